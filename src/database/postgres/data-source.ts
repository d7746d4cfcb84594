import { type CustomTypesConfig, types } from 'pg';
import { DataSource, type MixedList, type EntitySchema } from 'typeorm';
import type { PostgresStore } from '../../config/config.js';
import { migrations } from '../migrations/index.js';
import { ImpatientClient } from './impatient-client.js';

/**
 * Milliseconds. Added up they stay below the five seconds within which a lost database is reported: waiting
 * for a connection, then for the answer. The server gives up on a statement before `ImpatientClient` gives
 * up on the server.
 */
const CONNECTION_TIMEOUT = 2000;
const STATEMENT_TIMEOUT = 2300;

const { INT8, TIMESTAMPTZ } = types.builtins;

/** Ids and counters are safe integers; timestamps leave the service as the text they arrive as. */
const readableTypes: CustomTypesConfig = {
  getTypeParser: (type, format) => {
    if (type === INT8) return Number;
    if (type === TIMESTAMPTZ) return (text: string) => new Date(text).toISOString();
    return types.getTypeParser(type, format);
  },
};

/** A pool of connections. A patient one sets no limit to a statement: migrations may take their time. */
export function postgresDataSource(
  store: PostgresStore,
  entities: MixedList<Function | string | EntitySchema>,
  { patient = false } = {},
): DataSource {
  return new DataSource({
    type: 'postgres',
    url: store.url,
    entities,
    migrations,
    installExtensions: false,
    poolSize: patient ? 2 : store.poolSize,
    connectTimeoutMS: CONNECTION_TIMEOUT,
    // `pg` raises on the pool when an idle connection dies; unheard, that would end the process.
    poolErrorHandler: () => undefined,
    extra: {
      types: readableTypes,
      keepAlive: true,
      // Times are read as text, whatever the server's taste.
      options: '-c DateStyle=ISO',
      ...(patient ? {} : { Client: ImpatientClient, statement_timeout: STATEMENT_TIMEOUT }),
    },
  });
}
