import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';

const EXCLUDED = new Set(['node_modules', 'dist', 'data', '.git', 'coverage']);

/** Longer than a run of all tests, in milliseconds. */
const TIMEOUT = 60 * 60_000;

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** A copy of the project that a test may change, with the same dependencies. */
export class CopyOfProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'posts-api-copy-'));
  private readonly running = new Set<ChildProcess>();

  constructor() {
    cpSync('.', this.folder, { recursive: true, filter: (file) => !EXCLUDED.has(basename(file)) });
    symlinkSync(resolve('node_modules'), join(this.folder, 'node_modules'));
  }

  /** One that is removed when the process exits. */
  static untilExit(): CopyOfProject {
    const copy = new CopyOfProject();
    process.once('exit', () => copy.remove());
    return copy;
  }

  /** Runs a script of `package.json`. @throws Error with the output */
  script(name: string, ...parameters: string[]): Promise<string> {
    return this.mustRun('npm', 'run', '--silent', name, '--', ...parameters);
  }

  /** Runs checks by their names. @throws Error with the output of one that fails */
  async check(names: readonly string[], when: string): Promise<void> {
    for (const name of names) {
      await this.script(`check:${name}`);
      console.log(`check:${name} passes ${when}`);
    }
  }

  /** Runs tests, as `npm test` does. @throws Error with the output */
  test(...names: string[]): Promise<string> {
    return this.mustRun('npx', 'jest', ...names);
  }

  /** Runs examples and recipes. @throws Error with the output */
  testRecipes(...names: string[]): Promise<string> {
    return this.test('--config', 'test/recipes/jest.config.ts', ...names);
  }

  /** @returns the exit code and the output */
  async run(command: string, ...parameters: string[]): Promise<{ code: number; output: string }> {
    // In a process group of its own, which is killed with all that the command has started.
    const child = spawn(command, parameters, {
      cwd: this.folder,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.running.add(child);
    // Ctrl-C of the terminal does not reach the group.
    const stop = (signal: NodeJS.Signals) => {
      this.stop();
      process.kill(process.pid, signal);
    };
    for (const signal of SIGNALS) process.once(signal, stop);
    const timer = setTimeout(() => this.stop(), TIMEOUT);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    try {
      const [code] = (await once(child, 'close')) as [number | null];
      return { code: code ?? 1, output };
    } finally {
      clearTimeout(timer);
      for (const signal of SIGNALS) process.off(signal, stop);
      this.running.delete(child);
    }
  }

  /** Like {@link run}, for a command that must succeed. @throws Error with the output */
  async mustRun(command: string, ...parameters: string[]): Promise<string> {
    const { code, output } = await this.run(command, ...parameters);
    if (code !== 0) throw new Error(`${command} ${parameters.join(' ')} failed:\n${output}`);
    return output;
  }

  write(file: string, text: string): void {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Replaces the first match of each place. @throws Error if a place does not exist */
  edit(file: string, changes: readonly (readonly [place: RegExp, text: string])[]): void {
    const path = join(this.folder, file);
    const text = changes.reduce(
      (before, [place, replacement]) => {
        if (!place.test(before)) throw new Error(`${file} has no place ${place}`);
        return before.replace(place, replacement);
      },
      readFileSync(path, 'utf8'),
    );
    writeFileSync(path, text);
  }

  /** Kills the commands that a failed test has left running, too. */
  remove(): void {
    this.stop();
    rmSync(this.folder, { recursive: true, maxRetries: 5 });
  }

  private stop(): void {
    for (const { pid } of this.running) {
      try {
        process.kill(-pid!, 'SIGKILL');
      } catch {
        // It has just ended.
      }
    }
  }
}
