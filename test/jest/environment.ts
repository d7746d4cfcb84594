import { appendFileSync } from 'node:fs';
import { inspect } from 'node:util';
import type { JestEnvironment, JestEnvironmentConfig } from '@jest/environment';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** What Jest replaces in the process for each test file. */
const original = {
  console: globalThis.console,
  exit: process.exit.bind(process),
  getBuiltinModule: process.getBuiltinModule.bind(process),
};

/** Runs tests in the context of the process itself, where Node loads modules natively. */
export default class NativeEnvironment implements JestEnvironment {
  readonly global = globalThis as unknown as JestEnvironment['global'];
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern: ModernFakeTimers;
  private hasExited = false;

  constructor({ projectConfig }: JestEnvironmentConfig) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    // The run would have the exit code of a process that ends early.
    process.exit = (code) => {
      this.hasExited = true;
      throw new Error(`process.exit(${code ?? ''}) was called in a test`);
    };
  }

  getVmContext(): null {
    return null;
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  async setup(): Promise<void> {}

  handleTestEvent({ name }: { name: string }, { unhandledErrors }: { unhandledErrors: unknown[] }): void {
    // The code under test may have caught the error.
    if (name === 'run_finish' && this.hasExited)
      unhandledErrors.push(new Error('process.exit was called in a test'));
  }

  async teardown(): Promise<void> {
    this.fakeTimersModern.dispose();
    globalThis.console = original.console;
    process.exit = original.exit;
    process.getBuiltinModule = original.getBuiltinModule;
  }
}

/** Jest itself listens for errors only until the last test of a file has ended. The teardown of the run reads the file. */
function reportLateError(error: unknown): void {
  const report = `Error after the last test of a file: ${inspect(error)}\n`;
  process.stderr.write(report);
  process.exitCode = 1;
  appendFileSync(process.env['TEST_LATE_ERRORS']!, report);
}
process.on('unhandledRejection', reportLateError);
process.on('uncaughtException', reportLateError);
