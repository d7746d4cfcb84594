import type { Pool, PoolClient, QueryResult as PgResult } from 'pg';
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
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Parameters, Statement } from '../statement.js';
import { DatabaseError, isReadOnlyServer, isRejectedLogin, isTemporary } from '../failures.js';
import { serviceQueryRunner } from '../query-runner.js';
import type { ServiceQueryRunner } from '../unit-of-work.js';
import type { PostgresClient } from './client.js';
import type { Statements } from './statements.js';

/** A runner with prepared statements. */
class ServicePostgresRunner extends serviceQueryRunner(PostgresQueryRunner) implements ServiceQueryRunner {
  declare driver: ServicePostgresDriver;
  /** Statements for the packet that begins or ends the transaction. */
  private adjacent: readonly Statement[] = [];
  private results: readonly PgResult[] = [];

  async startTransactionWith(statements: readonly Statement[]): Promise<unknown[][]> {
    this.adjacent = statements;
    try {
      await this.startTransaction();
    } catch (error) {
      // A statement after `START TRANSACTION` may have failed, and the next attempt uses the same connection.
      await super.run('ROLLBACK').catch(() => undefined);
      throw error;
    }
    return this.results.slice(1).map(({ rows }) => rows);
  }

  /** The server turns the commit into a rollback if a statement fails. */
  async commitTransactionWith(statements: readonly Statement[]): Promise<void> {
    this.adjacent = statements;
    await this.commitTransaction();
  }

  /** A column without a collation in its entity keeps that of the table; TypeORM would write `COLLATE "undefined"`. */
  override changeColumn(table: Table | string, column: TableColumn | string, changed: TableColumn) {
    if (typeof column !== 'string') changed.collation ??= column.collation!;
    return super.changeColumn(table, column, changed);
  }

  async execute<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    const run = async () => {
      const client: PoolClient = await this.connect();
      return this.driver.statements.run(sql, parameters, client);
    };
    const { rows } = await this.track(sql, run);
    return rows as Row[];
  }

  protected override async run(sql: string, parameters?: unknown[]): Promise<QueryResult> {
    const statements = this.adjacent;
    const isEnd = sql === 'COMMIT';
    if (statements.length === 0 || !(isEnd || sql === 'START TRANSACTION')) return super.run(sql, parameters);
    this.adjacent = [];
    const client: PostgresClient = await this.connect();
    // In any other isolation, a statement would not see what was committed before the one ahead of it.
    const control = () => client.query(isEnd ? sql : `${sql} ISOLATION LEVEL READ COMMITTED`);
    const queries = statements.map(
      (each) => () => this.driver.statements.run(each.sql, each.parameters, client),
    );
    this.results = await client.queryTogether(isEnd ? [...queries, control] : [control, ...queries]);
    return new QueryResult();
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
