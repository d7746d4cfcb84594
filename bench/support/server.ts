import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A server in its own process that logs to a file, as in production. */
export class Server {
  readonly url: string;
  readonly process: ChildProcess;
  private readonly folder: string;

  private constructor(child: ChildProcess, url: string, folder: string) {
    this.process = child;
    this.url = url;
    this.folder = folder;
  }

  static service(environment: Readonly<Record<string, string>>): Promise<Server> {
    return Server.start('dist/main.js', environment);
  }

  static async start(
    script: string,
    environment: Readonly<Record<string, string>>,
    flags: readonly string[] = [],
  ): Promise<Server> {
    const folder = mkdtempSync(join(tmpdir(), 'posts-api-bench-'));
    const file = join(folder, 'log');
    const output = openSync(file, 'w');
    const child = spawn(process.execPath, [...flags, script], {
      env: { NODE_ENV: 'test', PATH: process.env['PATH'], PORT: '0', ...environment },
      stdio: ['ignore', output, output],
    });
    closeSync(output);
    process.once('exit', () => child.kill('SIGKILL'));
    for (let waited = 0; waited < 60_000; waited += 50) {
      const log = readFileSync(file, 'utf8');
      const url = /Ready on (http:\/\/[^\s,"]+)/.exec(log)?.[1];
      if (url) return new Server(child, url, folder);
      if (child.exitCode !== null) throw new Error(`${script} ended with ${child.exitCode}:\n${log}`);
      await sleep(50);
    }
    throw new Error(`${script} did not get ready`);
  }

  /** User and system time (proc_pid_stat(5)), whose unit is a hundredth of a second. */
  cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.process.pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  }

  async stop(): Promise<void> {
    const exit = once(this.process, 'exit');
    this.process.kill('SIGTERM');
    await exit;
    rmSync(this.folder, { recursive: true });
  }
}
