import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { freePort } from './free-port.js';
import { until } from './until.js';

export const hasRedis = spawnSync('redis-server', ['--version']).status === 0;

/** A separate Redis server without persistence. */
export class RedisServer {
  readonly url: string;
  private child: ChildProcess | undefined;

  private constructor(private readonly port: number) {
    this.url = `redis://127.0.0.1:${port}`;
  }

  static async start(): Promise<RedisServer> {
    const server = new RedisServer(await freePort());
    await server.start();
    return server;
  }

  async start(): Promise<void> {
    const options = ['--port', String(this.port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    this.child = spawn('redis-server', options, { stdio: 'ignore' });
    await until('Redis responds', () => this.responds());
  }

  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (!this.child || this.child.exitCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill(signal);
    await exit;
    this.child = undefined;
  }

  /** Suspends the process: it does not respond, but its connections stay open. */
  freeze(): void {
    this.child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.child?.kill('SIGCONT');
  }

  private responds(): Promise<boolean> {
    const socket = connect(this.port, '127.0.0.1');
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    }).finally(() => socket.destroy()) as Promise<boolean>;
  }
}
