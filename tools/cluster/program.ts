import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Options = Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'>;

/** A program in the background, which can be started again. Its output is appended to a file. */
export class Program {
  readonly name: string;
  private readonly command: readonly string[];
  private readonly log: string;
  private readonly options: Options;
  private child: ChildProcess | undefined;

  /** @param logs the folder of its log */
  constructor(name: string, command: readonly string[], logs: string, options: Options) {
    this.name = name;
    this.command = command;
    this.options = options;
    this.log = join(logs, `${name}.log`);
  }

  get isRunning(): boolean {
    return this.child !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  start(): void {
    const log = openSync(this.log, 'a');
    const [file, ...parameters] = this.command;
    // In a process group of its own: Ctrl-C of the terminal reaches only who started it, and stops it in order.
    this.child = spawn(file!, parameters, { ...this.options, detached: true, stdio: ['ignore', log, log] });
    this.child.once('error', () => undefined);
    closeSync(log);
  }

  /** Sends the signal and waits until the process has ended; kills it if that takes longer than the time. */
  async end(signal: NodeJS.Signals = 'SIGTERM', milliseconds = 15_000): Promise<void> {
    if (!this.isRunning) return;
    const exit = once(this.child!, 'exit');
    this.child!.kill(signal);
    const timer = setTimeout(() => this.kill(), milliseconds);
    await exit;
    clearTimeout(timer);
  }

  /** The end of its log. */
  lastLines(count = 20): string {
    return readFileSync(this.log, 'utf8').split('\n').slice(-count).join('\n');
  }

  /** Stops it where it is, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.child!.kill(signal);
  }

  /** Kills it at once. */
  kill(): void {
    if (this.isRunning) this.child!.kill('SIGKILL');
  }
}
