import type { Pool } from 'pg';
import type { EntitySchema, MixedList } from 'typeorm';
import type { PostgresStore } from '../../config/config.js';
import { POSTGRES } from '../dialect.js';
import { DatabaseError, retryConflicts } from '../failures.js';
import { ServiceDataSource } from '../service-data-source.js';
import { ServicePostgresDriver } from './driver.js';
import { mainPool, monitorPool, searchPool } from './pools.js';
import type { StatementParameters } from '../statement.js';
import { Statements } from './statements.js';

/** TypeORM's pool of connections. */
export class PostgresDataSource extends ServiceDataSource {
  readonly dialect = POSTGRES;
  declare driver: ServicePostgresDriver;
  readonly statements: Statements;
  readonly forCommand: boolean;

  /** Whether the last attempt to open a connection for requests has failed. */
  isRefused = false;

  /** A connection that is not shared with requests, for health checks and metrics. */
  monitor: Pool;

  /** The connections for slow reads. */
  searches: Pool;

  constructor(
    readonly store: PostgresStore,
    entities: MixedList<Function | string | EntitySchema>,
    { forCommand = false } = {},
  ) {
    super({
      type: 'postgres',
      url: store.url,
      entities,
      installExtensions: false,
      // `gen_random_uuid()`, which needs no extension.
      uuidExtension: 'pgcrypto',
    });
    this.forCommand = forCommand;
    this.statements = new Statements(store.preparedStatements, this.explain);
    this.driver = new ServicePostgresDriver(this, this.statements);
  }

  /** @throws DatabaseError if the database is not encoded in UTF-8 */
  override async initialize(): Promise<this> {
    this.setOptions(mainPool(this.store, this, (hasFailed) => (this.isRefused = hasFailed)));
    this.monitor = monitorPool(this.store);
    await super.initialize();
    // A command has few connections, and no statement timeout.
    this.searches = this.forCommand ? this.driver.master : searchPool(this.store);
    const [{ server_encoding: encoding }] = await this.query('SHOW server_encoding');
    if (encoding !== 'UTF8') {
      await this.destroy();
      throw new DatabaseError(`The database must be encoded in UTF8, and this one is in ${encoding}`);
    }
    return this;
  }

  read<Row>(sql: string, parameters?: StatementParameters): Promise<Row[]> {
    return this.statements.all<Row>(sql, parameters, this.driver.master);
  }

  readSlowly<Row>(sql: string, parameters?: StatementParameters): Promise<Row[]> {
    return this.statements.all<Row>(sql, parameters, this.searches);
  }

  autocommit<Row>(sql: string, parameters: StatementParameters): Promise<Row[]> {
    return retryConflicts(() => this.read<Row>(sql, parameters));
  }

  override async destroy(): Promise<void> {
    // TypeORM also calls it when it rejects an entity, before there are connections.
    const searches = this.searches as Pool | undefined;
    if (searches && searches !== this.driver.master && !searches.ending) await searches.end();
    await super.destroy();
    if (!this.monitor.ending) await this.monitor.end();
  }
}
