import { resolve } from 'node:path';
import { isPostgresOnly } from './package.js';
import { hasKnownSslMode, isPostgresAddress, parsePostgresAddress, SSL_MODES } from './rules.js';
import {
  oneOf,
  read,
  secret,
  setting,
  text,
  textThat,
  unusable,
  type ValuesOf,
  wholeNumber,
} from './settings.js';

export interface SqliteStore {
  readonly kind: 'sqlite';
  /** Folder of the database file; created if it is missing. */
  readonly directory: string;
}

export interface PostgresStore {
  readonly kind: 'postgres';
  /** `postgres://user:password@host:port/database`; contains a secret, so it is never logged. */
  readonly url: string;
  readonly poolSize: number;
  /** Whether a pooler uses another connection for each transaction, so that no session can be configured. */
  readonly pooled: boolean;
  /** Named prepared statements, once for each connection. */
  readonly preparedStatements: boolean;
}

/** The place of the data. */
export const storeSettings = {
  dataDirectory: setting('DATA_DIR', text().default('./data')),
  database: {
    url: secret(
      'DATABASE_URL',
      textThat(
        isPostgresAddress,
        'must be one PostgreSQL address, postgres://user:password@host:port/database',
      )
        .refine(hasKnownSslMode, { error: `must have no sslmode, or one of ${SSL_MODES.join(', ')}` })
        .optional()
        .refine((url) => url !== undefined || !isPostgresOnly, {
          error: 'must be set: "databases" of package.json has PostgreSQL alone',
        }),
    ),
    poolSize: setting('DATABASE_POOL_SIZE', wholeNumber(1, 1000).default(10)),
    pooler: setting('DATABASE_POOLER', oneOf(['none', 'transaction']).default('none')),
    /** Absent: on, unless there is a pooler. */
    preparedStatements: setting('DATABASE_PREPARED_STATEMENTS', oneOf(['on', 'off']).optional()),
  },
};

/** What a command needs that only uses the data. */
export interface StoreConfig {
  readonly store: SqliteStore | PostgresStore;
}

/** For commands that run next to the service or before it. @throws ConfigError */
export function loadStoreConfig(environment: NodeJS.ProcessEnv): StoreConfig {
  const { values, faults } = read(storeSettings, environment);
  if (faults.length > 0) throw unusable(faults);
  return { store: toStore(values) };
}

export function toStore({
  dataDirectory,
  database: { url, poolSize, pooler, preparedStatements = pooler === 'none' ? 'on' : 'off' },
}: ValuesOf<typeof storeSettings>): StoreConfig['store'] {
  if (url === undefined) return Object.freeze({ kind: 'sqlite', directory: dataDirectory });
  const pooled = pooler === 'transaction';
  return Object.freeze({
    kind: 'postgres',
    url,
    poolSize,
    pooled,
    preparedStatements: preparedStatements === 'on',
  });
}

/** The place of the data for people, without its password. */
export function describeStore(store: StoreConfig['store']): string {
  if (store.kind === 'sqlite') return `SQLite in ${resolve(store.directory)}`;
  const { host, pathname, searchParams } = parsePostgresAddress(store.url)!;
  return `PostgreSQL at ${host || searchParams.get('host')}${pathname}`;
}
