import { z } from 'zod';
import type { Config } from './config.js';
import { ConfigError } from './config-error.js';
import { developmentSecret } from './development-secret.js';

const JWT_SECRET_BYTES = 32;

const text = () => z.string();

const wholeNumber = (min: number, max: number) =>
  text()
    .regex(/^\d{1,9}$/, { error: `must be a whole number from ${min} to ${max}`, abort: true })
    .transform(Number)
    .refine((n) => n >= min && n <= max, { error: `must be a whole number from ${min} to ${max}` });

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

const isOrigin = (value: string) => URL.canParse(value) && new URL(value).origin === value;

/** Who, where and which database: the driver would make up what is missing, and the data would go there. */
function isPostgresAddress(value: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(value) || !URL.canParse(value)) return false;
  const { username, password, hostname, pathname, searchParams } = new URL(value);
  try {
    return (
      decodeURIComponent(username + password) !== '' &&
      (hostname !== '' || searchParams.has('host')) &&
      decodeURIComponent(pathname).length > 1
    );
  } catch {
    return false;
  }
}

/** Where the data is: all that a command needs to know. */
const storeSettings = z.object({
  DATABASE_URL: text()
    .refine(isPostgresAddress, {
      error: 'must be a PostgreSQL address, postgres://user:password@host:port/database',
    })
    .optional(),
  DATABASE_POOL_SIZE: wholeNumber(1, 1000).default(10),
  DATABASE_PREPARED_STATEMENTS: oneOf(['on', 'off']).default('on'),
  DATA_DIR: text().default('./data'),
});

const settings = storeSettings.extend({
  NODE_ENV: oneOf(['development', 'test', 'production']).default('development'),
  HOST: text().default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(3000),
  WEB_CONCURRENCY: wholeNumber(1, 128).default(1),
  MIGRATE: oneOf(['auto', 'off']).default('auto'),
  WRITE_ACCESS: oneOf(['open', 'authenticated', 'staff']).default('open'),
  JWT_SECRET: text()
    .refine((secret) => Buffer.byteLength(secret) >= JWT_SECRET_BYTES, {
      error: `must be at least ${JWT_SECRET_BYTES} bytes long`,
    })
    .optional(),
  CORS_ORIGINS: text()
    .transform((list) => list.split(',').map((origin) => origin.trim()))
    .refine((origins) => origins.every(isOrigin), {
      error: 'must be a comma-separated list of origins such as https://app.example.com',
    })
    .optional(),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DRAIN_DELAY_MS: wholeNumber(0, 8000).default(500),
});

/**
 * The one reader of the environment. An empty variable counts as absent.
 *
 * @throws ConfigError naming every bad setting, one a line.
 */
export function loadConfig(environment: NodeJS.ProcessEnv): Config {
  const { data: env, faults } = parse(settings, environment);
  if (environment['NODE_ENV'] === 'production' && !environment['JWT_SECRET']) {
    faults.push('JWT_SECRET must be set when NODE_ENV is production');
  }
  if (env && env.WEB_CONCURRENCY > 1 && env.DATABASE_URL === undefined) {
    faults.push(
      'WEB_CONCURRENCY must be 1 on the embedded database, which takes one process; set DATABASE_URL',
    );
  }
  if (!env || faults.length > 0) throw unusable(faults);

  return Object.freeze<Config>({
    production: env.NODE_ENV === 'production',
    host: env.HOST,
    port: env.PORT,
    workers: env.WEB_CONCURRENCY,
    store: toStore(env),
    migrateAtStart: env.MIGRATE === 'auto',
    writeAccess: env.WRITE_ACCESS,
    jwtSecret: env.JWT_SECRET ?? developmentSecret(env.DATA_DIR),
    corsOrigins: env.CORS_ORIGINS ? Object.freeze(env.CORS_ORIGINS) : '*',
    logLevel: env.LOG_LEVEL,
    drainDelay: env.DRAIN_DELAY_MS,
  });
}

/** Only where the data is, for commands that run beside the service or before it. @throws ConfigError */
export function loadStore(environment: NodeJS.ProcessEnv): Config['store'] {
  const { data, faults } = parse(storeSettings, environment);
  if (!data) throw unusable(faults);
  return toStore(data);
}

function parse<T extends z.ZodType>(schema: T, environment: NodeJS.ProcessEnv) {
  const set = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const { data, error } = schema.safeParse(set);
  return { data, faults: error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? [] };
}

const unusable = (faults: readonly string[]) =>
  new ConfigError(`The configuration is not usable:\n${faults.map((line) => `  ${line}`).join('\n')}`);

const toStore = (env: z.infer<typeof storeSettings>): Config['store'] =>
  Object.freeze(
    env.DATABASE_URL === undefined
      ? { kind: 'sqlite', directory: env.DATA_DIR }
      : {
          kind: 'postgres',
          url: env.DATABASE_URL,
          poolSize: env.DATABASE_POOL_SIZE,
          preparedStatements: env.DATABASE_PREPARED_STATEMENTS === 'on',
        },
  );
