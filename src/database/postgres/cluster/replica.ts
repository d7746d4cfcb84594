import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import type { PostgresStore } from '../../../config/config.js';
import { replicaPools } from '../pools.js';
import { Statements } from '../statements.js';

/** The primary's position at a time, in milliseconds. */
export interface Sample {
  readonly position: bigint;
  readonly at: number;
}

/** A replica with a larger lag is not used, in seconds. */
const MAX_LAG = 10;

/** How many samples are kept: one hour. */
const MAX_SAMPLES = 3600;

const POSITION = `SELECT pg_is_in_recovery() AS "isStandby", pg_last_wal_replay_lsn()::text AS position`;

/** A standby for reads, and its position. */
export class Replica {
  readonly name: string;
  readonly main: Pool;
  readonly slow: Pool;
  readonly statements = new Statements(true);
  private readonly logger = new Logger('Database');
  private readonly monitor: Pool;
  private refreshing: Promise<void> | undefined;
  /** Samples that it has not replayed yet, as far as is known; the oldest first. */
  private behind: Sample[] = [];
  /** Whether it has replayed a sample since it became available: before that, its lag is unknown. */
  private hasCaughtUp = false;
  private wasUsable: boolean | undefined;

  /**
   * Incremented when a connection is opened or lost. A standby that restarted may be further behind, and is
   * reached by new connections only.
   */
  generation = 0;

  /** Every connection of this generation has replayed at least this position. */
  replayed = 0n;

  constructor(url: string, store: PostgresStore) {
    const { host, searchParams } = new URL(url);
    this.name = host || searchParams.get('host')!;
    const { main, slow, monitor } = replicaPools(store, url);
    this.main = main;
    this.slow = slow;
    this.monitor = monitor;
    for (const pool of [main, slow, monitor]) {
      pool.on('connect', () => this.startGeneration()).on('error', () => this.markLost());
    }
  }

  get isUsable(): boolean {
    return this.hasCaughtUp && this.lag < MAX_LAG;
  }

  /** How long it has been behind the primary, in seconds. */
  get lag(): number {
    const [oldest] = this.behind;
    return oldest === undefined ? 0 : (performance.now() - oldest.at) / 1000;
  }

  /** Compares it with the primary from now on. */
  compare(sample: Sample): void {
    this.behind.push(sample);
    if (this.behind.length > MAX_SAMPLES) this.behind.shift();
  }

  /** Reads the server's position. Concurrent calls share the result. */
  refresh(): Promise<void> {
    return (this.refreshing ??= this.readPosition()
      .catch(() => this.markLost())
      .finally(() => {
        this.refreshing = undefined;
        this.report();
      }));
  }

  /** It is not used until it is available again and has caught up. */
  markLost(): void {
    this.startGeneration();
    this.hasCaughtUp = false;
    this.behind = [];
  }

  async close(): Promise<void> {
    await Promise.all([this.main.end(), this.slow.end(), this.monitor.end()]);
  }

  private startGeneration(): void {
    this.generation++;
    this.replayed = 0n;
  }

  private async readPosition(): Promise<void> {
    const client = await this.monitor.connect();
    const { generation } = this;
    try {
      const { rows } = await client.query<{ isStandby: boolean; position: string | null }>(POSITION);
      client.release();
      const { isStandby, position } = rows[0]!;
      if (!isStandby || position === null) this.markLost();
      else if (generation === this.generation) this.advance(parsePosition(position));
    } catch (error) {
      client.release(true);
      throw error;
    }
  }

  private advance(position: bigint): void {
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
      this.logger.warn(`The replica ${this.name} is not used: it is unavailable or too far behind`);
  }
}

/** A position in the write-ahead log from its text, such as `16/B374D848`. */
export function parsePosition(text: string): bigint {
  const [high, low] = text.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
