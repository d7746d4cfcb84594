import { Logger } from '@nestjs/common';
import Database from 'better-sqlite3';
import { LRUCache } from 'lru-cache';
import {
  type ColumnType,
  type DataSource,
  DataTypeNotSupportedError,
  QueryResult,
  type QueryRunner,
  type ReplicationMode,
  QueryRunnerAlreadyReleasedError,
  type TableColumn,
} from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import type { StatementParameters as Values } from '../statement.js';
import { serviceQueryRunner } from '../query-runner.js';
import type { ServiceDataSource } from '../service-data-source.js';
import { retryConflicts } from '../failures.js';
import type { ServiceQueryRunner } from '../unit-of-work.js';
import { SqliteConnection } from './connection.js';
import type { OpenedFiles } from './opened-files.js';
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
  /** The connection for writes, for one user at a time. */
  readonly writing = new SqliteConnection(
    () => this.databaseConnection,
    (error, sql) => (this.dataSource as ServiceDataSource).explain(error, sql),
  );
  readonly queue = new WriteQueue(this.writing, {
    beforeBegin: () => this.prepareWrite(),
    beforeCommit: () => this.checkFiles(),
  });
  private opened: Database.Database | undefined;
  /** Whether SQLite could open the database for reading only. */
  private isReadOnly = false;

  /**
   * @param files those of the database
   * @param openReader opens the read-only connection
   * @param allowWrites called when a disk that was read-only can be written, before the database is opened again; it
   * returns whether this process may write
   */
  constructor(
    source: DataSource,
    private readonly files: OpenedFiles,
    private readonly openReader: () => Database.Database,
    private readonly allowWrites: () => Promise<boolean>,
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
    return new SqliteQueryRunner(this, mode === 'slave');
  }

  /** @throws DataTypeNotSupportedError for an array, with which TypeORM would fail only when a row is written */
  override normalizeType(column: Parameters<BetterSqlite3Driver['normalizeType']>[0]): string {
    if ('isArray' in column && column.isArray)
      throw new DataTypeNotSupportedError(
        column as unknown as ColumnMetadata,
        'array' as ColumnType,
        'better-sqlite3',
      );
    return super.normalizeType({
      ...column,
      type: TYPES[String(column.type)] ?? column.type,
    } as typeof column);
  }

  override async connect(): Promise<void> {
    await super.connect();
    this.isReadOnly = !this.files.isWritable;
    this.files.forget();
    this.files.check();
  }

  override async disconnect(): Promise<void> {
    await super.disconnect();
    this.opened?.close();
    this.opened = undefined;
  }

  /** @throws Error if the files were deleted or replaced */
  checkFiles(): void {
    try {
      this.files.check();
    } catch (error) {
      throw (this.dataSource as ServiceDataSource).explain(error, '');
    }
  }

  /** Opens the database again, if its disk was read-only and no longer is. Call it before a transaction or a write begins. */
  async prepareWrite(): Promise<void> {
    if (this.isReadOnly && this.files.isWritable && (await this.allowWrites())) {
      await this.disconnect();
      await this.connect();
      new Logger('Database').log('The disk of the database can be written again');
    }
    this.checkFiles();
  }
}

/**
 * A runner on one of two connections. Reads run on the read-only connection; everything else
 * waits for the writing one, and keeps it for a statement or for a transaction.
 */
export class SqliteQueryRunner
  extends serviceQueryRunner(BetterSqlite3QueryRunner)
  implements ServiceQueryRunner, Writer
{
  declare driver: SqliteDriver;
  private acquiring: Promise<void> | undefined;
  private running = 0;
  private lastEnd = performance.now();

  /** Whether its transactions may commit together with others: for work that soon ends, as that of `Transactions`. */
  sharesCommit = false;

  /** @param readsOnly whether it uses the connection for reads, until a transaction starts */
  constructor(
    driver: SqliteDriver,
    private readsOnly: boolean,
  ) {
    super(driver);
  }

  get lastUsed(): number {
    return this.running > 0 ? Infinity : this.lastEnd;
  }

  override async connect(): Promise<Database.Database> {
    return this.readsOnly && !this.unit ? this.driver.reader : super.connect();
  }

  override async startTransaction(isolation?: Isolation): Promise<void> {
    this.readsOnly = false;
    await super.startTransaction(isolation);
  }

  async execute<Row>(sql: string, parameters: Values): Promise<Row[]> {
    const run = async () => {
      this.assertInTransaction();
      return this.driver.writing.all<Row>(sql, parameters);
    };
    const rows = await this.track(sql, run);
    this.lastEnd = performance.now();
    return rows;
  }

  protected override async run(sql: string, parameters?: unknown[]): Promise<QueryResult> {
    if (this.readsOnly || this.isReleased) return super.run(sql, parameters);
    this.running++;
    try {
      if (this.sharesCommit && CONTROL.has(sql)) return await this.control(sql);
      await this.acquire();
      if (this.hasLostTransaction && sql.startsWith('ROLLBACK')) return new QueryResult();
      this.assertInTransaction();
      if (!this.driver.writing.inTransaction) await this.driver.prepareWrite();
      else if (sql === 'COMMIT') this.driver.checkFiles();
      // The transaction will write. A deferred one could conflict with another process after its first reads.
      const text = sql === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : sql;
      const run = () => super.run(text, parameters);
      return await (this.driver.writing.inTransaction ? run() : retryConflicts(run));
    } finally {
      this.running--;
      this.lastEnd = performance.now();
      const { queue, writing } = this.driver;
      if (this.running === 0 && !writing.inTransaction && !queue.isMember(this)) queue.release(this);
    }
  }

  protected override isInTransaction(): boolean {
    const { queue, writing } = this.driver;
    return this.isTransactionActive || (queue.isHeldBy(this) && writing.inTransaction);
  }

  override async release(): Promise<void> {
    if (this.isReleased) return;
    this.isReleased = true;
    this.endTransaction();
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
      'A transaction was rolled back, because others have waited for its end too long; was a QueryRunner not ended?',
    );
    this.isReleased = true;
    this.endTransaction();
  }

  /** Begins and ends its part of a group, whose transaction it shares. */
  private async control(sql: string): Promise<QueryResult> {
    const { queue } = this.driver;
    if (sql === 'BEGIN TRANSACTION') {
      await queue.join(this);
      this.assertHolder();
    } else if (sql === 'COMMIT') {
      this.assertHolder();
      await queue.leave(this);
    } else {
      await queue.undo(this);
    }
    return new QueryResult();
  }

  /** Once for all concurrent statements. */
  private async acquire(): Promise<void> {
    const { queue } = this.driver;
    if (!queue.isHeldBy(this)) {
      this.acquiring ??= queue.acquire(this).finally(() => (this.acquiring = undefined));
      await this.acquiring;
    }
    this.assertHolder();
  }

  /** @throws QueryRunnerAlreadyReleasedError after the end of the runner, also if that came while it waited */
  private assertHolder(): void {
    if (!this.isReleased && this.driver.queue.isHeldBy(this)) return;
    this.endTransaction();
    throw new QueryRunnerAlreadyReleasedError();
  }

  /** Whether an error has ended the transaction, as `RAISE(ROLLBACK)` or a full disk does. */
  private get hasLostTransaction(): boolean {
    return this.transaction.isActive && !this.driver.writing.inTransaction;
  }

  /** Otherwise SQLite would commit a statement, or a savepoint, by itself. */
  private assertInTransaction(): void {
    this.assertHolder();
    if (this.hasLostTransaction) throw new Error('An error has ended the transaction of this statement');
  }

  private endTransaction(): void {
    const { queue, writing } = this.driver;
    if (!queue.isHeldBy(this)) return;
    if (queue.isMember(this)) {
      queue.undo(this).catch(() => undefined);
      return;
    }
    if (writing.inTransaction) this.driver.databaseConnection.exec('ROLLBACK');
    queue.release(this);
  }
}
