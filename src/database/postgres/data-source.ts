import type { Pool } from 'pg';
import type { EntitySchema, MixedList } from 'typeorm';
import type { PostgresStore } from '../../config/config.js';
import { POSTGRES } from '../dialect.js';
import { DatabaseError } from '../failures.js';
import { ServiceDataSource } from '../service-data-source.js';
import { PostgresClient } from './client.js';
import type { Cluster } from './cluster/cluster.js';
import { ServicePostgresDriver } from './driver.js';
import { type Access, mainPool, monitorPool } from './pools.js';
import { Statements } from './statements.js';

/** TypeORM's pool of connections to the primary. */
export class PostgresDataSource extends ServiceDataSource {
  readonly dialect = POSTGRES;
  declare driver: ServicePostgresDriver;
  readonly statements: Statements;
  readonly forCommand: boolean;

  /** Undefined if one server is configured. */
  cluster: Cluster | undefined;

  /** A connection that is not shared with requests, for health checks and metrics. */
  monitor: Pool;

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
    this.statements = new Statements(store.preparedStatements);
    this.driver = new ServicePostgresDriver(
      this,
      this.statements,
      () => this.cluster?.replicas?.current?.main,
    );
  }

  get access(): Access {
    return { store: this.store, Client: this.cluster?.Client ?? PostgresClient };
  }

  /** @throws DatabaseError if the database is not encoded in UTF-8 */
  override async initialize(): Promise<this> {
    this.cluster = await clusterOf(this.store);
    this.setOptions(mainPool(this.access, this));
    this.monitor = monitorPool(this.access);
    await super.initialize();
    const [{ server_encoding: encoding }] = await this.query('SHOW server_encoding');
    if (encoding !== 'UTF8') {
      await this.destroy();
      throw new DatabaseError(`The database must be encoded in UTF8, and this one is in ${encoding}`);
    }
    this.cluster?.watchPrimary(this.monitor);
    return this;
  }

  override async destroy(): Promise<void> {
    await this.cluster?.close();
    await super.destroy();
    if (!this.monitor.ending) await this.monitor.end();
  }

  override noteWrite(): void {
    this.cluster?.replicas?.noteWrite();
  }
}

/** Loads the code for several servers only where they are configured. */
async function clusterOf(store: PostgresStore): Promise<Cluster | undefined> {
  if (store.servers.length === 0 && store.replicaUrls.length === 0) return undefined;
  const { Cluster } = await import('./cluster/cluster.js');
  return new Cluster(store);
}
