import { Logger } from '@nestjs/common';
import Database from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import {
  type DataSource,
  QueryResult,
  type QueryRunner,
  type ReplicationMode,
  type TableColumn,
} from 'typeorm';
import { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import type { Parameters as Values } from '../parameters.js';
import { serviceQueryRunner } from '../query-runner.js';
import { retryCollisions } from '../retry.js';
import type { ServiceQueryRunner } from '../unit-of-work.js';
import { SqliteConnection } from './connection.js';
import { WriteQueue, type Writer } from './write-queue.js';

type Isolation = Parameters<ServiceQueryRunner['startTransaction']>[0];

/** The number of cached statements. TypeORM writes limits into their text, so their number is unbounded. */
const STATEMENTS = 500;

/** SQLite's types for the column types of `columns.ts`. */
const TYPES: Record<string, string> = { int8: 'integer', timestamptz: 'text' };

/** The statements by which TypeORM begins and ends a transaction. */
const CONTROL = new Set(['BEGIN TRANSACTION', 'COMMIT', 'ROLLBACK']);

/** The current time as TypeORM stores dates here: in UTC, with milliseconds. */
const NOW = `strftime('%Y-%m-%d %H:%M:%f', 'now')`;

/** A connection that caches prepared statements: TypeORM prepares one for each call. Two to four times as fast. */
export class CachingConnection extends Database {
  private readonly statements = new LRUCache<string, Database.Statement>({ max: STATEMENTS });

  // The original type infers row and parameters of a statement, which nothing here needs.
  override prepare(sql: string): any {
    let statement = this.statements.get(sql);
    if (!statement) this.statements.set(sql, (statement = super.prepare(sql)));
    return statement;
  }
}

/** TypeORM's driver with a second, read-only connection, and a queue for the one that writes. */
export class SqliteDriver extends BetterSqlite3Driver {
  /** The connection for writes, for the writer whose turn it is. */
  readonly writer = new SqliteConnection(() => this.databaseConnection);
  readonly queue = new WriteQueue(this.writer);
  private opened: Database.Database | undefined;

  /** @param openReader opens the read-only connection */
  constructor(
    source: DataSource,
    private readonly openReader: () => Database.Database,
  ) {
    super(source);
    this.mappedDataTypes = { ...this.mappedDataTypes, createDateDefault: NOW, updateDateDefault: NOW };
  }

  /** The connection for reads. */
  get reader(): Database.Database {
    return (this.opened ??= this.openReader());
  }

  /** A runner for one user. TypeORM's driver has one for all. */
  override createQueryRunner(mode: ReplicationMode): QueryRunner {
    return new SqliteQueryRunner(this, mode === 'slave' ? this.reader : undefined);
  }

  override normalizeType(column: Parameters<BetterSqlite3Driver['normalizeType']>[0]): string {
    return super.normalizeType({
      ...column,
      type: TYPES[String(column.type)] ?? column.type,
    } as typeof column);
  }

  override async disconnect(): Promise<void> {
    await super.disconnect();
    this.opened?.close();
    this.opened = undefined;
  }
}

/**
 * A runner on one of two connections. Reads run on the read-only connection; everything else
 * waits for the writing one, and keeps it for a statement or for a transaction.
 */
export class SqliteQueryRunner
  extends serviceQueryRunner(BetterSqlite3QueryRunner, 'sqlite')
  implements ServiceQueryRunner, Writer
{
  declare driver: SqliteDriver;
  private acquiring: Promise<void> | undefined;
  private isHolder = false;
  private isMember = false;
  private running = 0;
  private lastEnd = Date.now();

  /** Whether its transactions may commit together with others: for work that soon ends, see `Transactions.run`. */
  sharesCommit = false;

  /** @param reader the connection for reads until a transaction starts; without it, the runner only writes */
  constructor(
    driver: SqliteDriver,
    private reader: Database.Database | undefined,
  ) {
    super(driver);
  }

  get lastUsed(): number {
    return this.running > 0 ? Infinity : this.lastEnd;
  }

  override async connect(): Promise<Database.Database> {
    return this.reader && !this.unit ? this.reader : super.connect();
  }

  override async startTransaction(isolation?: Isolation): Promise<void> {
    this.reader = undefined;
    await super.startTransaction(isolation);
  }

  async execute<Row>(sql: string, parameters: Values): Promise<Row[]> {
    const run = async () => this.driver.writer.run(sql, parameters);
    const { rows } = await this.track(sql, run, ({ changes }) => changes);
    this.lastEnd = Date.now();
    return rows as Row[];
  }

  protected override async run(sql: string, parameters?: unknown[]): Promise<QueryResult> {
    if (this.reader || this.isReleased) return super.run(sql, parameters);
    if (this.sharesCommit && CONTROL.has(sql)) return this.control(sql);
    // The transaction will write. A deferred one could conflict with another process after its first reads.
    const text = sql === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : sql;
    const run = () => super.run(text, parameters);
    this.running++;
    try {
      await this.acquire();
      return await (this.writer.inTransaction ? run() : retryCollisions(run));
    } finally {
      this.running--;
      this.lastEnd = Date.now();
      if (this.running === 0 && this.isHolder && !this.isMember && !this.writer.inTransaction) this.unlock();
    }
  }

  protected override isInTransaction(): boolean {
    return this.isTransactionActive || (this.isHolder && this.writer.inTransaction);
  }

  override async release(): Promise<void> {
    if (this.isReleased) return;
    this.endTransaction();
    this.isReleased = true;
    await super.release();
  }

  /** SQLite sorts text by code point, and has no collation of PostgreSQL's name. */
  protected override buildCreateColumnSql(column: TableColumn, skipPrimary?: boolean): string {
    if (column.collation !== 'C') return super.buildCreateColumnSql(column, skipPrimary);
    const { collation: _, ...plain } = column;
    return super.buildCreateColumnSql(plain as TableColumn, skipPrimary);
  }

  evict(): void {
    new Logger(SqliteQueryRunner.name).error(
      'A transaction that did nothing while others waited to write was rolled back; was a QueryRunner not ended?',
    );
    this.endTransaction();
    this.isReleased = true;
  }

  private get writer(): Database.Database {
    return this.driver.databaseConnection;
  }

  /** Begins and ends its part of a group, whose transaction it shares. */
  private async control(sql: string): Promise<QueryResult> {
    const { queue } = this.driver;
    if (sql === 'BEGIN TRANSACTION') {
      await (this.acquiring = queue.join(this));
      this.isHolder = this.isMember = true;
    } else if (this.isMember) {
      this.isHolder = this.isMember = false;
      this.acquiring = undefined;
      if (sql === 'COMMIT') await queue.leave(this);
      else await queue.undo(this);
    }
    return new QueryResult();
  }

  /** Once for all concurrent statements. */
  private async acquire(): Promise<void> {
    this.acquiring ??= this.driver.queue.acquire(this);
    try {
      await this.acquiring;
      this.isHolder = true;
    } catch (error) {
      this.acquiring = undefined;
      throw error;
    }
  }

  private unlock(): void {
    this.acquiring = undefined;
    this.isHolder = false;
    this.driver.queue.release(this);
  }

  private endTransaction(): void {
    if (!this.isHolder) return;
    if (this.isMember) this.driver.queue.undo(this).catch(() => undefined);
    else if (this.writer.inTransaction) this.writer.exec('ROLLBACK');
    this.isMember = false;
    this.isTransactionActive = false;
    this.transactionDepth = 0;
    this.unlock();
  }
}
