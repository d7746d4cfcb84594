import type { Pool, PoolClient } from 'pg';
import {
  type DataSource,
  QueryRunnerAlreadyReleasedError,
  type ReplicationMode,
  type Table,
  type TableColumn,
} from 'typeorm';
import { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import type { Parameters } from '../statement.js';
import { DatabaseError, isReadOnlyServer, isRejectedLogin, isTemporary } from '../failures.js';
import { serviceQueryRunner } from '../query-runner.js';
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

  async execute<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
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
