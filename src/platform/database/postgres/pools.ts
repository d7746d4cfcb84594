import { type CustomTypesConfig, Pool, types } from 'pg';
import type { PostgresStore } from '../../config/config.js';
import { PostgresClient } from './client.js';

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

/**
 * The options of TypeORM's pool. That of a command is small and has no statement timeout, whatever the role has: migrations
 * take long.
 *
 * @param onAttempt called after each attempt to open a connection
 */
export function mainPool(
  store: PostgresStore,
  { forCommand }: { forCommand: boolean },
  onAttempt: (hasFailed: boolean) => void,
) {
  return {
    poolSize: forCommand ? 2 : store.poolSize,
    connectTimeoutMS: CONNECTION_TIMEOUT,
    // `pg` emits an error when an idle connection is lost; without a listener, it would end the process.
    poolErrorHandler: () => undefined,
    extra: {
      ...sessionOf(store, forCommand ? ' -c statement_timeout=0' : ''),
      onAttempt,
      // A statement is sent without waiting for the one before it: only `beginWith` does that.
      pipeline: true,
      ...(forCommand ? { Client: PostgresClient } : limitedTo(store, STATEMENT_TIMEOUT)),
    },
  };
}

/** Connections for searches only, so that slow searches delay only each other. */
export const searchPool = (store: PostgresStore): Pool =>
  newPool(store, SEARCHES.connections, SEARCHES.timeout);

/** How many connections a process opens besides `DATABASE_POOL_SIZE`: for searches and health checks. */
export const FURTHER_CONNECTIONS = SEARCHES.connections + 1;

/** A connection that is not shared with requests, for health checks and metrics. */
export const monitorPool = (store: PostgresStore): Pool => newPool(store, 1, STATEMENT_TIMEOUT);

/** A connection beside the pools, without a statement timeout. */
export const singleConnection = (store: PostgresStore): PostgresClient =>
  new PostgresClient({
    connectionString: store.url,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    types: readableTypes,
  });

function newPool(store: PostgresStore, max: number, timeout: number): Pool {
  const pool = new Pool({
    connectionString: store.url,
    max,
    connectionTimeoutMillis: CONNECTION_TIMEOUT,
    ...sessionOf(store),
    ...limitedTo(store, timeout),
  });
  return pool.on('error', () => undefined);
}

const sessionOf = ({ pooled }: PostgresStore, further = '') => ({
  types: readableTypes,
  keepAlive: true,
  // Times are read as text in any format of the server. A pooler rejects settings of a session.
  ...(!pooled && { options: `-c DateStyle=ISO -c TimeZone=UTC${further}` }),
});

const limitedTo = ({ pooled }: PostgresStore, timeout: number) => ({
  ...(!pooled && { statement_timeout: timeout }),
  silenceTimeout: timeout + CLIENT_MARGIN,
  Client: PostgresClient,
});
