import { Logger } from '@nestjs/common';
import type Database from 'better-sqlite3';
import type { TableColumn } from 'typeorm';
import { BetterSqlite3QueryRunner } from 'typeorm/driver/better-sqlite3/BetterSqlite3QueryRunner.js';
import { retryCollisions } from '../retry.js';
import type { Turns, Writer } from './turns.js';

type Driver = ConstructorParameters<typeof BetterSqlite3QueryRunner>[0];

/**
 * TypeORM's runner on one of two connections. Reads run on the read-only connection; everything else
 * waits for its turn on the writing one, and keeps it for a statement or for a transaction.
 */
export class SqliteQueryRunner extends BetterSqlite3QueryRunner implements Writer {
  private readonly logger = new Logger(SqliteQueryRunner.name);
  private turn: Promise<void> | undefined;
  private holds = false;
  private running = 0;
  private lastEnd = Date.now();

  /** @param reader the connection for reads until a transaction starts; without it, the runner only writes */
  constructor(
    driver: Driver,
    private readonly turns: Turns,
    private reader: Database.Database | undefined,
  ) {
    super(driver);
  }

  get lastUsed(): number {
    return this.running > 0 ? Infinity : this.lastEnd;
  }

  override async connect(): Promise<Database.Database> {
    return this.reader ?? this.writer;
  }

  override async startTransaction(...parameters: Parameters<BetterSqlite3QueryRunner['startTransaction']>) {
    this.reader = undefined;
    await super.startTransaction(...parameters);
  }

  override async query(sql: string, parameters?: any[], useStructuredResult?: boolean): Promise<any> {
    if (this.reader || this.isReleased) return super.query(sql, parameters, useStructuredResult);
    // The transaction will write. A deferred one could conflict with another process after its first reads.
    const text = sql === 'BEGIN TRANSACTION' ? 'BEGIN IMMEDIATE' : sql;
    const run = () => super.query(text, parameters, useStructuredResult);
    this.running++;
    try {
      await this.takeTurn();
      return await (this.writer.inTransaction ? run() : retryCollisions(run));
    } finally {
      this.running--;
      this.lastEnd = Date.now();
      if (this.running === 0 && this.holds && !this.writer.inTransaction) this.giveTurn();
    }
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
    this.logger.error(
      'A transaction that did nothing while others waited to write was rolled back; was a QueryRunner not ended?',
    );
    this.endTransaction();
    this.isReleased = true;
  }

  private get writer(): Database.Database {
    return this.driver.databaseConnection;
  }

  /** Once for all concurrent statements. */
  private async takeTurn(): Promise<void> {
    this.turn ??= this.turns.take(this);
    try {
      await this.turn;
      this.holds = true;
    } catch (error) {
      this.turn = undefined;
      throw error;
    }
  }

  private giveTurn(): void {
    this.turn = undefined;
    this.holds = false;
    this.turns.give(this);
  }

  private endTransaction(): void {
    if (!this.holds) return;
    if (this.writer.inTransaction) this.writer.exec('ROLLBACK');
    this.isTransactionActive = false;
    this.transactionDepth = 0;
    this.giveTurn();
  }
}
