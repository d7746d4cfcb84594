import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { until } from '../../test/support/until.ts';
import type { Program } from './program.ts';

/** Patroni and its PostgreSQL. */
export class DatabaseNode {
  readonly name: string;
  /** The port of PostgreSQL. */
  readonly port: number;
  /** The port of Patroni's REST API. */
  readonly rest: number;
  private readonly patroni: Program;
  private readonly data: string;

  /** @param data the folder of PostgreSQL */
  constructor(
    patroni: Program,
    { name, port, rest }: Readonly<Record<'port' | 'rest', number> & { name: string }>,
    data: string,
  ) {
    this.name = name;
    this.port = port;
    this.rest = rest;
    this.patroni = patroni;
    this.data = data;
  }

  start(): void {
    this.patroni.start();
  }

  isPrimary(): Promise<boolean> {
    return this.responds('primary');
  }

  /** Whether commits of the primary wait for it. */
  isSynchronous(): Promise<boolean> {
    return this.responds('synchronous');
  }

  /** Kills Patroni and PostgreSQL. Its server processes end on their own, as soon as they notice. */
  async kill(): Promise<void> {
    if (!(await this.signal('SIGKILL'))) throw new Error(`PostgreSQL of ${this.name} does not run`);
  }

  /**
   * Stops all processes of PostgreSQL where they are, as a machine without processor time does.
   *
   * @param withPatroni whether Patroni stops, too
   * @returns a function that lets them go on
   */
  freeze(withPatroni: boolean): () => void {
    const postmaster = this.pid();
    if (postmaster === undefined) throw new Error(`PostgreSQL of ${this.name} does not run`);
    // First, so that it starts no other process.
    const stopped = [postmaster];
    if (withPatroni) this.patroni.signal('SIGSTOP');
    send(postmaster, 'SIGSTOP');
    for (const pid of childrenOf(postmaster)) if (send(pid, 'SIGSTOP')) stopped.push(pid);
    return () => {
      for (const pid of stopped) send(pid, 'SIGCONT');
      if (withPatroni) this.patroni.signal('SIGCONT');
    };
  }

  /** For the end of the cluster: PostgreSQL ends with all of its processes, and writes nothing. */
  async abandon(): Promise<void> {
    await this.signal('SIGQUIT');
  }

  /** @returns whether PostgreSQL was running */
  private async signal(signal: NodeJS.Signals): Promise<boolean> {
    const pid = this.pid();
    this.patroni.kill();
    if (pid === undefined || !send(pid, signal)) return false;
    await until(`PostgreSQL of ${this.name} ends`, () => !send(pid, 0));
    return true;
  }

  /**
   * Patroni starts PostgreSQL in a session of its own. A file that is left over or half written must not lead to another
   * process: PostgreSQL runs in the folder of its data.
   */
  private pid(): number | undefined {
    try {
      const pid = Number(readFileSync(join(this.data, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
      return pid > 1 && readlinkSync(`/proc/${pid}/cwd`) === this.data ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  private async responds(path: string): Promise<boolean> {
    const options = { signal: AbortSignal.timeout(2000) };
    return fetch(`http://127.0.0.1:${this.rest}/${path}`, options).then(
      async (response) => {
        await response.body?.cancel();
        return response.status === 200;
      },
      () => false,
    );
  }
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);

/** @returns whether the process exists */
function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
