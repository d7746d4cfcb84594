import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { environmentOfProcess } from './environment.ts';

const running = new Set<ChildProcess>();

/** Kills services that a failed test has left running, because they would keep the test run from ending. */
export function killServices(): void {
  for (const child of running) child.kill('SIGKILL');
}

interface ServiceOptions {
  readonly preloaded?: string;
  readonly descriptors?: number;
}

/** A service in a separate process, as `npm run start:prod` runs it, for tests of signals, output and exit codes. */
export class Service {
  readonly process: ChildProcess;
  readonly url: string;
  private readonly lines: string[];

  private constructor(child: ChildProcess, url: string, lines: string[]) {
    this.process = child;
    this.url = url;
    this.lines = lines;
  }

  /**
   * Resolves when the service is ready.
   *
   * @param preloaded a module that Node loads first
   * @param descriptors the limit of open files and sockets
   * @throws Error with the output when it ends before that
   */
  static async start(
    environment: Readonly<Record<string, string>>,
    script = 'dist/main.js',
    { preloaded, descriptors }: ServiceOptions = {},
  ): Promise<Service> {
    const first = preloaded === undefined ? [] : ['--import', preloaded];
    const command = [process.execPath, ...first, script];
    const limited = ['sh', '-c', `ulimit -n ${descriptors} && exec "$0" "$@"`, ...command];
    const [program, ...parameters] = descriptors === undefined ? command : limited;
    const child = spawn(program!, parameters, {
      env: { ...environmentOfProcess(), PORT: '0', DRAIN_DELAY_MS: '0', ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    child.once('exit', () => running.delete(child));
    const lines: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk) => lines.push(String(chunk)));

    const ready = new Promise<string>((resolve) => {
      child.stdout.on('data', () => {
        const url = /Ready on (http:\/\/[^\s,]+)/.exec(lines.join(''))?.[1];
        if (url) resolve(url);
      });
    });
    const ended = once(child, 'close').then(([code]) => {
      throw new Error(`The service ended with ${code}:\n${lines.join('')}`);
    });
    const url = await Promise.race([ready, ended]);
    ended.catch(() => undefined);
    return new Service(child, url, lines);
  }

  /** Starts a service with the `FixtureModule`. */
  static withFixture(
    environment: Readonly<Record<string, string>>,
    options: ServiceOptions = {},
  ): Promise<Service> {
    return Service.start(environment, undefined, { preloaded: './test/support/fixture-host.ts', ...options });
  }

  get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  /** Everything that the process has written, to either stream. */
  get output(): string {
    return this.lines.join('');
  }

  /** The lines of the log so far, parsed. */
  get log(): Record<string, any>[] {
    return this.output
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(this.url + path, init);
  }

  /** Creates a dummy of the `FixtureModule`. */
  create(text = 'Some text'): Promise<Response> {
    return this.fetch('/v1/dummies', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ text }),
    });
  }

  /** Sends the signal and waits until the process has ended. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<{ code: number | null; milliseconds: number }> {
    const start = Date.now();
    if (!this.hasEnded) {
      const exit = once(this.process, 'exit');
      this.process.kill(signal);
      await exit;
    }
    return { code: this.process.exitCode, milliseconds: Date.now() - start };
  }
}
