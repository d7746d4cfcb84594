import type { QueryResult, QueryRunner } from 'typeorm';
import type { ServiceDataSource } from './service-data-source.js';
import type { Statement } from './statement.js';
import { type Isolation, TransactionState } from './transaction-state.js';
import type { ServiceQueryRunner, UnitOfWork } from './unit-of-work.js';

type Constructor = new (...parameters: any[]) => QueryRunner;

/**
 * The query runner of a driver, with what both databases have in common:
 *
 * - After a failed statement, a transaction cannot commit (see `TransactionSubscriber`). PostgreSQL would turn `COMMIT`
 *   into a rollback without an error; SQLite would commit the rest.
 * - `release` rolls back an open transaction, because the next user of the connection would write into it.
 * - It may take part in a unit of work.
 */
export const serviceQueryRunner = <Base extends Constructor>(Base: Base) =>
  class extends Base {
    declare isTransactionActive: boolean;
    readonly transaction = new TransactionState();
    unit: UnitOfWork | undefined;

    join(unit: UnitOfWork): this {
      this.unit = unit;
      // `save` and the like must not begin a transaction of their own.
      this.isTransactionActive = true;
      return this;
    }

    override query(sql: string, parameters?: any[], useStructuredResult?: boolean): Promise<any> {
      const { unit } = this;
      if (unit) return unit.execute((owner) => owner.send(sql, parameters, useStructuredResult));
      return this.send(sql, parameters, useStructuredResult);
    }

    async send(sql: string, parameters?: unknown[], useStructuredResult?: boolean): Promise<any> {
      // Another subscriber may have run a statement that failed, after TransactionSubscriber was called.
      if (sql === 'COMMIT') this.transaction.check();
      const result = await this.track(sql, () => this.run(sql, parameters));
      return useStructuredResult ? result : result.raw;
    }

    /** Runs a statement, and keeps its error. */
    protected async track<T>(sql: string, run: () => Promise<T>): Promise<T> {
      try {
        return await run();
      } catch (error) {
        const explained = (this.dataSource as ServiceDataSource).explain(error, sql);
        this.transaction.fail(explained);
        throw explained;
      }
    }

    /** @throws Error always: SQLite's driver has no streams, and one of PostgreSQL would keep its connection */
    override stream(): Promise<never> {
      const error = new Error('stream() is not available here: read in batches, each after the last key');
      return Promise.reject(error);
    }

    protected run(sql: string, parameters?: unknown[]): Promise<QueryResult> {
      return super.query(sql, parameters, true);
    }

    /** Whether the connection is in a transaction, however it was begun. */
    protected isInTransaction(): boolean {
      return this.isTransactionActive;
    }

    override async startTransaction(isolation?: Isolation): Promise<void> {
      if (this.unit) return this.unit.begin().then(() => this.unit!.runner.startTransaction(isolation));
      const wasActive = this.isTransactionActive;
      try {
        await super.startTransaction(isolation);
      } catch (error) {
        // TypeORM counts a transaction that failed to begin as active, and would end it.
        this.isTransactionActive = wasActive;
        throw error;
      }
    }

    async beginWith(reads: readonly Statement[], isolation?: Isolation): Promise<any[][]> {
      await this.startTransaction(isolation);
      const runner = this as unknown as ServiceQueryRunner;
      const rows: any[][] = [];
      for (const { sql, parameters } of reads) rows.push(await runner.execute(sql, parameters));
      return rows;
    }

    override async commitTransaction(): Promise<void> {
      if (this.unit) return this.unit.runner.commitTransaction();
      if (this.isTransactionActive && !this.transaction.isActive) {
        throw new Error('TransactionSubscriber is missing from dataSource.subscribers (decision 64)');
      }
      await super.commitTransaction();
    }

    override rollbackTransaction(): Promise<void> {
      return this.unit ? this.unit.runner.rollbackTransaction() : super.rollbackTransaction();
    }

    override async release(): Promise<void> {
      if (!this.unit && !this.isReleased && this.isInTransaction()) {
        await super.query('ROLLBACK').catch(() => undefined);
      }
      await super.release();
    }

    /** The connection of the unit of work, if the runner takes part in one. */
    override async connect(): Promise<any> {
      if (!this.unit) return super.connect();
      await this.unit.begin();
      return this.unit.runner.connect();
    }
  };
