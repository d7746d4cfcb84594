import type { Pool, PoolClient } from 'pg';
import {
  type DataSource,
  QueryResult,
  QueryRunnerAlreadyReleasedError,
  type ReplicationMode,
  type Table,
  type TableColumn,
} from 'typeorm';
import { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import { validateIsolationLevel } from 'typeorm/driver/validate-isolation-level.js';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { StatementParameters, Statement } from '../statement.js';
import { DatabaseError, isReadOnlyServer, isRejectedLogin, isTemporary } from '../failures.js';
import { serviceQueryRunner } from '../query-runner.js';
import type { Isolation } from '../transaction-state.js';
import type { ServiceQueryRunner } from '../unit-of-work.js';
import type { PostgresClient } from './client.js';
import type { Statements } from './statements.js';

/** A runner with prepared statements. */
class ServicePostgresRunner extends serviceQueryRunner(PostgresQueryRunner) implements ServiceQueryRunner {
  declare driver: ServicePostgresDriver;
  /** A text without a collation in its entity keeps that of the table; TypeORM would write `COLLATE "undefined"`. */
  override changeColumn(table: Table | string, column: TableColumn | string, changed: TableColumn) {
    if (typeof column !== 'string' && column.type === changed.type) changed.collation ??= column.collation!;
    return super.changeColumn(table, column, changed);
  }

  /** How the next transaction begins, and what is read in it. */
  private next: { readonly isolation?: Isolation; readonly reads: readonly Statement[] } = { reads: [] };
  private rows: Promise<any[][]> = Promise.resolve([]);

  /** With the isolation in the statement that begins; TypeORM would send another one. */
  override startTransaction(isolation?: Isolation): Promise<void> {
    validateIsolationLevel(this.driver.supportedIsolationLevels, isolation);
    this.next = { ...this.next, ...(isolation && { isolation }) };
    return super.startTransaction();
  }

  /**
   * In one round trip: the reads are sent before the server has confirmed the begin. Statements that write must not be:
   * behind a begin that has failed, they would commit by themselves.
   */
  override async beginWith(reads: readonly Statement[], isolation?: Isolation): Promise<any[][]> {
    this.next = { reads };
    await this.startTransaction(isolation);
    return this.track(reads.at(-1)?.sql ?? '', () => this.rows);
  }

  protected override async run(sql: string, parameters?: unknown[]): Promise<QueryResult> {
    if (sql !== 'START TRANSACTION') return super.run(sql, parameters);
    const { isolation, reads } = this.next;
    this.next = { reads: [] };
    const begin = isolation ? `${sql} ISOLATION LEVEL ${isolation}` : sql;
    if (reads.length === 0) return super.run(begin);
    const client: PoolClient = await this.connect();
    const begun = client.query(begin);
    const rowsOf = async (read: Statement) =>
      (await this.driver.statements.run(read.sql, read.parameters, client)).rows;
    this.rows = Promise.all(reads.map(rowsOf));
    // If the begin fails, nobody waits for them.
    this.rows.catch(() => undefined);
    await begun;
    return new QueryResult();
  }

  async execute<Row>(sql: string, parameters: StatementParameters): Promise<Row[]> {
    const run = async () => {
      const client: PoolClient = await this.connect();
      return this.driver.statements.run(sql, parameters, client);
    };
    const { rows } = await this.track(sql, run);
    return rows as Row[];
  }

  /**
   * Closes a connection whose server has become read-only: after a failover, a new one leads to the primary.
   *
   * @throws Error that says so, if the connection is lost: TypeORM has then released the runner
   */
  protected override async track<T>(sql: string, run: () => Promise<T>): Promise<T> {
    try {
      return await super.track(sql, run);
    } catch (error) {
      const client = this.databaseConnection as PostgresClient | undefined;
      if (isReadOnlyServer(error)) client?.cut();
      if (client?.isLost && error instanceof QueryRunnerAlreadyReleasedError) {
        throw new Error('Connection terminated before the end of its transaction', { cause: error });
      }
      throw error;
    }
  }

  protected override isInTransaction(): boolean {
    const client = this.databaseConnection as PoolClient | undefined;
    return this.isTransactionActive || /[TE]/.test(client?.getTransactionStatus() ?? '');
  }
}

/** TypeORM's driver with runners of this service. */
export class ServicePostgresDriver extends PostgresDriver {
  declare master: Pool;

  constructor(
    source: DataSource,
    readonly statements: Statements,
  ) {
    super(source);
  }

  /**
   * @throws DatabaseError for an address that the driver or the server cannot use: a certificate, an unknown option.
   * Outages and a rejected login keep their error.
   */
  override async connect(): Promise<void> {
    try {
      await super.connect();
    } catch (error) {
      if (isTemporary(error) || isRejectedLogin(error)) throw error;
      const { message } = error as Error;
      throw new DatabaseError(`DATABASE_URL cannot be used: ${message}`, { cause: error });
    }
  }

  override createQueryRunner(mode: ReplicationMode): PostgresQueryRunner {
    return new ServicePostgresRunner(this, mode);
  }

  /** An entity without a collation accepts any. */
  override findChangedColumns(columns: TableColumn[], described: ColumnMetadata[]): ColumnMetadata[] {
    const collations = new Map(described.map(({ databaseName, collation }) => [databaseName, collation]));
    const comparable = columns.map((column) => {
      const copy = column.clone();
      if (collations.get(column.name) === undefined) delete copy.collation;
      return copy;
    });
    return super.findChangedColumns(comparable, described);
  }
}
