import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import type { PostgresStore } from '../../config/config.js';
import { PostgresConnection } from './connection.js';
import { replicaPools } from './data-source.js';
import { parsePosition } from './wal-position.js';

/** Where the primary was at a moment, in milliseconds. */
export interface Sample {
  readonly position: bigint;
  readonly at: number;
}

/** A replica that is further behind is left out, in seconds. */
const MAX_LAG = 10;

/** How many samples it may be behind by: an hour. */
const MAX_SAMPLES = 3600;

const ignore = (): void => undefined;

const POSITION = `SELECT pg_is_in_recovery() AS "isStandby", pg_last_wal_replay_lsn()::text AS position`;

/** A standby that reads may go to, and how far it is. */
export class Replica {
  readonly name: string;
  readonly main: Pool;
  readonly slow: Pool;
  readonly connection: PostgresConnection;
  readonly searches: PostgresConnection;
  private readonly logger = new Logger('Database');
  private readonly watch: Pool;
  private looking: Promise<void> | undefined;
  /** Samples that it has not replayed, as far as is known; the oldest first. */
  private behind: Sample[] = [];
  /** Whether it has replayed a sample since it came up: before that, its lag is unknown. */
  private hasCaughtUp = false;
  private wasUsable: boolean | undefined;

  /**
   * Grows when a connection is opened or lost. A standby that was restarted may be further back than it was, and is
   * reached by new connections only.
   */
  generation = 0;

  /** What it has replayed, at least, as every connection of this generation sees it. */
  replayed = 0n;

  constructor(url: string, store: PostgresStore) {
    const { host, searchParams } = new URL(url);
    this.name = host || searchParams.get('host')!;
    const { main, slow, watch } = replicaPools(store, url);
    this.main = main;
    this.slow = slow;
    this.watch = watch;
    for (const pool of [main, slow, watch]) {
      pool.on('connect', () => this.startGeneration()).on('error', () => this.lose());
    }
    this.connection = new PostgresConnection(main, true);
    this.searches = new PostgresConnection(slow, true);
  }

  get isUsable(): boolean {
    return this.hasCaughtUp && this.lag < MAX_LAG;
  }

  /** In seconds: how long the primary has been ahead. */
  get lag(): number {
    const [oldest] = this.behind;
    return oldest === undefined ? 0 : (performance.now() - oldest.at) / 1000;
  }

  /** Compares it with the primary from now on. */
  compare(sample: Sample): void {
    this.behind.push(sample);
    if (this.behind.length > MAX_SAMPLES) this.behind.shift();
  }

  /** Asks the server how far it is. Calls at the same time share the response. */
  look(): Promise<void> {
    return (this.looking ??= this.ask()
      .catch(() => this.lose())
      .finally(() => {
        this.looking = undefined;
        this.report();
      }));
  }

  /** Leaves it out until it has been reached again, and has caught up. */
  lose(): void {
    this.startGeneration();
    this.hasCaughtUp = false;
    this.behind = [];
  }

  async close(): Promise<void> {
    await Promise.all([this.main.end(), this.slow.end(), this.watch.end()]);
  }

  private startGeneration(): void {
    this.generation++;
    this.replayed = 0n;
  }

  private async ask(): Promise<void> {
    const client = await this.watch.connect();
    const { generation } = this;
    // Raised besides the failure of the query; unheard, it would end the process.
    client.on('error', ignore);
    try {
      const { rows } = await client.query<{ isStandby: boolean; position: string | null }>(POSITION);
      client.off('error', ignore).release();
      const { isStandby, position } = rows[0]!;
      if (!isStandby || position === null) this.lose();
      else if (generation === this.generation) this.note(parsePosition(position));
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  private note(position: bigint): void {
    this.replayed = position;
    while (this.behind[0] !== undefined && this.behind[0].position <= position) {
      this.behind.shift();
      this.hasCaughtUp = true;
    }
  }

  private report(): void {
    const { isUsable, wasUsable } = this;
    this.wasUsable = isUsable;
    if (isUsable && wasUsable === false) this.logger.log(`The replica ${this.name} is used again`);
    if (!isUsable && wasUsable)
      this.logger.warn(`The replica ${this.name} is left out: it is away or too late`);
  }
}
