import { type Client, type CustomTypesConfig, Pool, type PoolConfig, types } from 'pg';
import type { EntitySchema, MixedList, QueryRunner, ReplicationMode } from 'typeorm';
import type { PostgresStore } from '../../config/config.js';
import { DatabaseError } from '../database.error.js';
import { migrations } from '../migrations/index.js';
import { ServiceDataSource } from '../service-data-source.js';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { clientWithTimeout } from './client-with-timeout.js';
import { PostgresClient } from './postgres-client.js';
import { Primary } from './primary.js';
import { primaryClient } from './primary-client.js';
import { replicaRunner } from './replica-runner.js';

/**
 * Milliseconds. Their sum stays below the five seconds within which an outage is reported: the wait
 * for a connection, and that for the response. The server cancels a statement before the client gives up on
 * the server, which happens a little later.
 */
const CONNECTION_TIMEOUT = 2000;
const STATEMENT_TIMEOUT = 2300;
const CLIENT_MARGIN = 300;

/** A search for short or common text reads all posts, which may take longer; few of these run at once. */
const SEARCHES = { timeout: 8000, connections: 4 };

/** Short reads share connections, and are canceled after these times, because others wait behind them. */
const SHORT = { connections: 4, timeout: 400, lockTimeout: 50 };

const { INT8, TIMESTAMPTZ } = types.builtins;

/** Types of rows: ids and counters as numbers, timestamps as RFC 3339 text in UTC. */
const readableTypes: CustomTypesConfig = {
  getTypeParser: (type, format) => {
    if (type === INT8) return Number;
    if (type === TIMESTAMPTZ) return toRfc3339;
    return types.getTypeParser(type, format);
  },
};

/** Converts `2026-11-21 09:51:40.12+00`, PostgreSQL's format in UTC, without the slower `Date`. */
function toRfc3339(text: string): string {
  if (!text.endsWith('+00')) return new Date(text).toISOString();
  const milliseconds = text.slice(20, -3).padEnd(3, '0').slice(0, 3);
  return `${text.slice(0, 10)}T${text.slice(11, 19)}.${milliseconds}Z`;
}

/** A connection pool. That of a command is small and has no statement timeout, because migrations may take long. */
export class PostgresDataSource extends ServiceDataSource {
  /** The pool of the replica for the current reads; undefined: the primary. */
  replicaPool: () => Pool | undefined = () => undefined;

  /** Finds the server for new connections; undefined for a single server without `target_session_attrs`. */
  readonly primary: Primary | undefined;

  /** A connection that is not shared with requests, for health checks and metrics. */
  readonly watch: Pool;

  constructor(
    readonly store: PostgresStore,
    entities: MixedList<Function | string | EntitySchema>,
    { forCommand = false } = {},
  ) {
    const primary = Primary.of(store);
    super({
      type: 'postgres',
      url: store.url,
      entities,
      migrations,
      installExtensions: false,
      // `gen_random_uuid()`, which needs no extension.
      uuidExtension: 'pgcrypto',
      poolSize: forCommand ? 2 : store.poolSize - sharedBy(store),
      connectTimeoutMS: CONNECTION_TIMEOUT,
      // `pg` emits an error when an idle connection is lost; without a listener, it would end the process.
      poolErrorHandler: () => undefined,
      extra: {
        ...sessionOf(store),
        ...(forCommand ? { Client: clientOf(primary) } : limitedTo(store, primary, STATEMENT_TIMEOUT)),
      },
    });
    this.primary = primary;
    this.watch = watchPool(store, primary);
  }

  /** @throws DatabaseError if the database is not encoded in UTF-8 */
  override async initialize(): Promise<this> {
    await super.initialize();
    const [{ server_encoding: encoding }] = await this.query('SHOW server_encoding');
    if (encoding !== 'UTF8') {
      await this.destroy();
      throw new DatabaseError(`The database must be encoded in UTF8, and this one is in ${encoding}`);
    }
    this.primary?.watch(this.watch);
    return this;
  }

  override async destroy(): Promise<void> {
    this.primary?.close();
    await super.destroy();
    if (!this.watch.ending) await this.watch.end();
  }

  protected override newRunner(mode: ReplicationMode): QueryRunner {
    const pool = mode === 'slave' ? this.replicaPool() : undefined;
    return pool ? replicaRunner(this.driver as PostgresDriver, pool) : super.newRunner(mode);
  }
}

/** Connections for searches only, so that slow searches delay only each other. */
export const searchPool = (store: PostgresStore, primary?: Primary): Pool =>
  newPool(store, primary, SEARCHES.connections, SEARCHES.timeout);

/** The pool of a pipeline, if there is one. */
export function sharedPool(store: PostgresStore, primary?: Primary): Pool | undefined {
  const connections = sharedBy(store);
  if (connections === 0) return undefined;
  return newPool(store, primary, connections, STATEMENT_TIMEOUT, {
    // The client waits as long as on other connections: a commit has no timeout of its own.
    statement_timeout: SHORT.timeout,
    lock_timeout: SHORT.lockTimeout,
    pipeline: true,
  });
}

/** How many connections a pipeline has. Behind a pooler, the connections have no statement timeout. */
const sharedBy = ({ poolSize, pooled }: PostgresStore): number =>
  pooled ? 0 : Math.min(SHORT.connections, Math.floor(poolSize / 2));

const watchPool = (store: PostgresStore, primary?: Primary): Pool =>
  newPool(store, primary, 1, STATEMENT_TIMEOUT);

/** Direct connections to a replica: behind a pooler, a restart of the server would go unnoticed. */
export function replicaPools(store: PostgresStore, url: string): Record<'main' | 'slow' | 'watch', Pool> {
  const replica = { ...store, url, pooled: false };
  return {
    main: newPool(replica, undefined, store.poolSize, STATEMENT_TIMEOUT),
    slow: searchPool(replica),
    watch: watchPool(replica),
  };
}

/** A connection that waits for signals: it sends nothing, so only TCP keep-alive detects a lost server. */
export const listenerConnection =
  ({ url }: PostgresStore, primary: Primary | undefined) =>
  (timeout: number): Client =>
    new (clientOf(primary))({
      connectionString: url,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: timeout,
    });

function newPool(
  store: PostgresStore,
  primary: Primary | undefined,
  max: number,
  timeout: number,
  options?: PoolConfig,
): Pool {
  const pool = new Pool({
    connectionString: store.url,
    max,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    ...sessionOf(store),
    ...limitedTo(store, primary, timeout),
    ...options,
  });
  return pool.on('error', () => undefined);
}

const clientOf = (primary: Primary | undefined): typeof Client =>
  primary ? primaryClient(primary) : PostgresClient;

const sessionOf = ({ pooled }: PostgresStore) => ({
  types: readableTypes,
  keepAlive: true,
  // Times are read as text in any format of the server. A pooler rejects settings of a session.
  ...(!pooled && { options: '-c DateStyle=ISO -c TimeZone=UTC' }),
});

const limitedTo = ({ pooled }: PostgresStore, primary: Primary | undefined, timeout: number) => ({
  ...(!pooled && { statement_timeout: timeout }),
  Client: clientWithTimeout(clientOf(primary), timeout + CLIENT_MARGIN),
});
