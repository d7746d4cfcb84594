import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { CommandCall, CommandResult } from './command-host.js';
import { environmentOfProcess } from './environment.js';

const running = new Set<ChildProcess>();

/** Kills the commands that a failed test has left running. */
export function killCommands(): void {
  for (const child of running) child.kill('SIGKILL');
}

interface CommandOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** Standard input. */
  readonly input?: string;
  /** Sends SIGINT as soon as the command reports progress. */
  readonly interrupt?: boolean;
}

/** Runs a command of the build in a shared process, which loads the modules only once; commands run one at a time. */
export function runCommand(
  name: string,
  parameters: readonly string[],
  { environment, input = '' }: CommandOptions,
): Promise<CommandResult> {
  const call = { name, parameters, input, environment: { ...environmentOfProcess(), ...environment } };
  const result = last.then(() => runInHost(call));
  last = result.catch(() => undefined);
  return result;
}

/** Runs a command in a separate process, for tests of its exit, streams and signals. */
export async function spawnCommand(
  name: string,
  parameters: readonly string[],
  { environment, input = '', interrupt = false }: CommandOptions,
): Promise<CommandResult> {
  const child = spawn(process.execPath, [`dist/commands/${name}.js`, ...parameters], {
    env: { ...environmentOfProcess(), ...environment },
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  if (interrupt) {
    const stopOnProgress = () => {
      if (!/\d\/s/.test(output)) return;
      child.stderr.off('data', stopOnProgress);
      child.kill('SIGINT');
    };
    child.stderr.on('data', stopOnProgress);
  }
  const [code] = await once(child, 'close');
  return { code, output };
}

let last: Promise<unknown> = Promise.resolve();
let host: ChildProcess | undefined;

async function runInHost(call: CommandCall): Promise<CommandResult> {
  const child = (host ??= startHost());
  const waiting = new AbortController();
  const { signal } = waiting;
  const ended = once(child, 'exit', { signal }).then(([code]) => {
    throw new Error(`The process of the commands ended with ${code}`);
  });
  const message = once(child, 'message', { signal });
  running.add(child);
  child.send(call);
  try {
    const [result] = (await Promise.race([message, ended])) as [CommandResult];
    return result;
  } finally {
    running.delete(child);
    waiting.abort();
    await Promise.allSettled([message, ended]);
  }
}

/** Starts the shared process, which ends with that of the tests. */
function startHost(): ChildProcess {
  const child = fork('test/support/command-host.ts', {
    env: environmentOfProcess(),
    execArgv: ['--no-warnings'],
  });
  child.once('exit', () => (host = undefined));
  child.unref();
  child.channel!.unref();
  return child;
}
