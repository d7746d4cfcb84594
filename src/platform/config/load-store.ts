import { resolve } from 'node:path';
import { z } from 'zod';
import type { Config } from './config.js';
import { readSecretFiles } from './secret-files.js';
import { oneOf, parse, text, unusable, wholeNumber } from './settings.js';

/** Those that the driver knows. It would treat any other like `verify-full`. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'];

/** The place of the data, for commands. */
export const storeSettings = z.object({
  DATABASE_URL: text()
    .refine(isPostgresAddress, {
      error: 'must be one PostgreSQL address, postgres://user:password@host:port/database',
    })
    .refine(hasKnownSslMode, { error: `must have no sslmode, or one of ${SSL_MODES.join(', ')}` })
    .optional(),
  DATABASE_POOL_SIZE: wholeNumber(1, 1000).default(10),
  DATABASE_POOLER: oneOf(['none', 'transaction']).default('none'),
  DATABASE_PREPARED_STATEMENTS: oneOf(['on', 'off']).optional(),
  DATA_DIR: text().default('./data'),
  MIGRATE: oneOf(['auto', 'off']).default('auto'),
});

/** What a command needs. */
export type StoreConfig = Pick<Config, 'store'>;

/** For commands that run next to the service or before it. @throws ConfigError */
export function loadStoreConfig(variables: NodeJS.ProcessEnv): StoreConfig {
  const { environment, faults: badFiles } = readSecretFiles(variables);
  const { data, faults } = parse(storeSettings, environment);
  faults.push(...badFiles);
  if (!data || faults.length > 0) throw unusable(faults);
  return { store: toStore(data) };
}

export const toStore = (env: z.infer<typeof storeSettings>): Config['store'] =>
  Object.freeze(
    env.DATABASE_URL === undefined
      ? { kind: 'sqlite', directory: env.DATA_DIR }
      : {
          kind: 'postgres',
          url: env.DATABASE_URL,
          poolSize: env.DATABASE_POOL_SIZE,
          pooled: env.DATABASE_POOLER === 'transaction',
          preparedStatements:
            (env.DATABASE_PREPARED_STATEMENTS ?? (env.DATABASE_POOLER === 'none' ? 'on' : 'off')) === 'on',
        },
  );

/** The place of the data for people, without its password. */
export function describeStore(store: StoreConfig['store']): string {
  if (store.kind === 'sqlite') return `SQLite in ${resolve(store.directory)}`;
  const { host, pathname, searchParams } = parseAddress(store.url)!;
  return `PostgreSQL at ${host || searchParams.get('host')}${pathname}`;
}

/** Without the user before an empty host, as in `postgres://user@/db?host=/folder`, which the driver takes and `URL` does not. */
const parseAddress = (value: string): URL | null =>
  URL.parse(value.replace(/^(postgres(?:ql)?:\/\/)[^/?#]*@(?=\/)/, '$1'));

function hasKnownSslMode(value: string): boolean {
  const mode = parseAddress(value)?.searchParams.get('sslmode') ?? undefined;
  return mode === undefined || SSL_MODES.includes(mode);
}

/** User, host and database are required: the driver would guess what is missing, and write the data there. */
function isPostgresAddress(value: string): boolean {
  const url = parseAddress(value);
  const [, user] = /^postgres(?:ql)?:\/\/([^/?#]+)@/.exec(value) ?? [];
  if (!url || user === undefined || /^:*$/.test(user)) return false;
  const { hostname, pathname, searchParams } = url;
  try {
    decodeURIComponent(user);
    return (
      (hostname !== '' || searchParams.has('host')) &&
      !/,/.test(hostname + (searchParams.get('host') ?? '')) &&
      decodeURIComponent(pathname).length > 1
    );
  } catch {
    return false;
  }
}
