import type { Pool, PoolClient } from 'pg';
import type { DataSource, ReplicationMode } from 'typeorm';
import { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';
import type { Parameters } from '../parameters.js';
import { serviceQueryRunner } from '../query-runner.js';
import type { ServiceQueryRunner } from '../unit-of-work.js';
import type { Statements } from './statements.js';

/** A runner with prepared statements. */
class ServicePostgresRunner
  extends serviceQueryRunner(PostgresQueryRunner, 'postgresql')
  implements ServiceQueryRunner
{
  declare driver: ServicePostgresDriver;

  async execute<Row>(sql: string, parameters: Parameters): Promise<Row[]> {
    const run = async () => {
      const client: PoolClient = await this.connect();
      return this.driver.statements.run(sql, parameters, client);
    };
    const { rows } = await this.track(sql, run, ({ rowCount }) => rowCount ?? 0);
    return rows as Row[];
  }

  protected override isInTransaction(): boolean {
    const client = this.databaseConnection as PoolClient | undefined;
    return this.isTransactionActive || /[TE]/.test(client?.getTransactionStatus() ?? '');
  }
}

/** TypeORM's driver, whose reads may use a replica that is chosen for each request. */
export class ServicePostgresDriver extends PostgresDriver {
  declare master: Pool;

  /** @param replicaPool the pool of the replica for the current reads; undefined: the primary */
  constructor(
    source: DataSource,
    readonly statements: Statements,
    private readonly replicaPool: () => Pool | undefined,
  ) {
    super(source);
    // TypeORM then asks for another connection for `SELECT` builders.
    this.isReplicated = true;
  }

  override createQueryRunner(mode: ReplicationMode): PostgresQueryRunner {
    return new ServicePostgresRunner(this, mode);
  }

  override async obtainSlaveConnection(): Promise<[PoolClient, PoolClient['release']]> {
    const pool = this.replicaPool();
    if (!pool) return this.obtainMasterConnection() as Promise<[PoolClient, PoolClient['release']]>;
    const client = await pool.connect();
    return [client, client.release.bind(client)];
  }
}
