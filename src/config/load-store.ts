import { resolve } from 'node:path';
import { z } from 'zod';
import type { Config } from './config.js';
import { misspeltSettings } from './misspelt-settings.js';
import {
  hasKnownSslMode,
  isPostgresAddress,
  isWritableTarget,
  needsPrimary,
  serversOf,
  SSL_MODES,
} from './postgres-address.js';
import { readSecretFiles } from './secret-files.js';
import { oneOf, parse, text, unusable, wholeNumber } from './settings.js';

const SSL_MODE = `must have no sslmode, or one of ${SSL_MODES.join(', ')}`;

/** The place of the data, for commands. */
export const storeSettings = z.object({
  DATABASE_URL: text()
    .refine((address) => serversOf(address).every(isPostgresAddress), {
      error:
        'must be a PostgreSQL address, postgres://user:password@host:port/database, or have several: @host1:port,host2:port/database',
    })
    .refine((address) => serversOf(address).every(hasKnownSslMode), { error: SSL_MODE })
    .refine(isWritableTarget, {
      error: 'must be without target_session_attrs, or have read-write: the service writes',
    })
    .optional(),
  DATABASE_REPLICA_URLS: text()
    .transform((items) => items.split(',').map((item) => item.trim()))
    .refine((items) => items.every(isPostgresAddress), {
      error:
        'must be a comma-separated list of PostgreSQL addresses, postgres://user:password@host:port/database',
    })
    .refine((items) => items.every(hasKnownSslMode), { error: SSL_MODE })
    .default([]),
  DATABASE_POOL_SIZE: wholeNumber(1, 1000).default(10),
  DATABASE_POOLER: oneOf(['none', 'transaction']).default('none'),
  DATABASE_PREPARED_STATEMENTS: oneOf(['on', 'off']).optional(),
  DATA_DIR: text().default('./data'),
  MIGRATE: oneOf(['auto', 'off']).default('auto'),
});

/** What a command needs. */
export type StoreConfig = Pick<Config, 'store' | 'warnings'>;

/** For commands that run next to the service or before it. @throws ConfigError */
export function loadStoreConfig(variables: NodeJS.ProcessEnv): StoreConfig {
  const { environment, faults: badFiles } = readSecretFiles(variables);
  const { data, faults } = parse(storeSettings, environment);
  const misspelt = misspeltSettings(variables, Object.keys(storeSettings.shape));
  faults.push(...badFiles, ...(variables['NODE_ENV'] === 'production' ? misspelt : []));
  if (!data || faults.length > 0) throw unusable(faults);
  return { store: toStore(data), warnings: misspelt };
}

export const toStore = (env: z.infer<typeof storeSettings>): Config['store'] =>
  Object.freeze(
    env.DATABASE_URL === undefined
      ? { kind: 'sqlite', directory: env.DATA_DIR }
      : {
          kind: 'postgres',
          url: serversOf(env.DATABASE_URL)[0]!,
          servers: Object.freeze(needsPrimary(env.DATABASE_URL) ? serversOf(env.DATABASE_URL) : []),
          replicaUrls: Object.freeze(env.DATABASE_REPLICA_URLS),
          poolSize: env.DATABASE_POOL_SIZE,
          pooled: env.DATABASE_POOLER === 'transaction',
          preparedStatements:
            (env.DATABASE_PREPARED_STATEMENTS ?? (env.DATABASE_POOLER === 'none' ? 'on' : 'off')) === 'on',
        },
  );

/** The place of the data for people, without its password. */
export function describeStore(store: StoreConfig['store']): string {
  if (store.kind === 'sqlite') return `SQLite in ${resolve(store.directory)}`;
  const servers = store.servers.length > 0 ? store.servers : [store.url];
  return `PostgreSQL at ${servers.map((server) => new URL(server).host).join(',')}${new URL(store.url).pathname}`;
}
