import { isIP } from 'node:net';
import { z } from 'zod';
import type { Config, PasswordPolicyMode } from './config.js';
import { ConfigError } from './config-error.js';
import { developmentSecret } from './development-secret.js';
import { socialFaults, socialSettings, toSocialClients } from './load-social.js';

const JWT_SECRET_BYTES = 32;

const text = () => z.string();

const wholeNumber = (min: number, max: number) =>
  text()
    .regex(/^\d{1,9}$/, { error: `must be a whole number from ${min} to ${max}`, abort: true })
    .transform(Number)
    .refine((n) => n >= min && n <= max, { error: `must be a whole number from ${min} to ${max}` });

const oneOf = <const T extends readonly [string, ...string[]]>(values: T) =>
  z.enum(values, { error: `must be one of ${values.join(', ')}` });

const list = (isItem: (value: string) => boolean, error: string) =>
  text()
    .transform((items) => items.split(',').map((item) => item.trim()))
    .refine((items) => items.every(isItem), { error });

const isOrigin = (value: string) => URL.canParse(value) && new URL(value).origin === value;

/** Something may be put behind it. */
const isBaseUrl = (value: string) =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol) && !/[?#]/.test(value);

/** Pages, and apps by their own scheme. */
const isTarget = (value: string) =>
  URL.canParse(value) && !/^(javascript|data|blob|file|about):/i.test(value) && !value.includes('#');

/** `10.0.0.1`, `10.0.0.0/8`, `fd00::/8` */
function isNetwork(value: string): boolean {
  const [address = '', bits, ...more] = value.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

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

/** What makes a password acceptable: the service and the account command agree on it. */
const passwordSettings = z.object({
  NODE_ENV: oneOf(['development', 'test', 'production']).default('development'),
  PASSWORD_POLICY: oneOf(['length', 'strict']).optional(),
});

const settings = z.object({
  ...storeSettings.shape,
  ...passwordSettings.shape,
  PUBLIC_URL: text()
    .refine(isBaseUrl, { error: 'must be the address of this service, such as https://api.example.com' })
    .optional(),
  SOCIAL_LOGIN_REDIRECT: text()
    .refine(isTarget, { error: 'must be an address such as https://app.example.com/welcome, without #' })
    .optional(),
  HOST: text().default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(3000),
  MIGRATE: oneOf(['auto', 'off']).default('auto'),
  WRITE_ACCESS: oneOf(['open', 'authenticated', 'staff']).default('open'),
  JWT_SECRET: text()
    .refine((secret) => Buffer.byteLength(secret) >= JWT_SECRET_BYTES, {
      error: `must be at least ${JWT_SECRET_BYTES} bytes long`,
    })
    .optional(),
  REFRESH_REUSE: oneOf(['refuse', 'revoke']).default('refuse'),
  TRUST_PROXY: list(
    isNetwork,
    'must be a comma-separated list of addresses and networks such as 10.0.0.0/8',
  ).default([]),
  CORS_ORIGINS: list(
    isOrigin,
    'must be a comma-separated list of origins such as https://app.example.com',
  ).optional(),
  GRAPHQL_PLAYGROUND: oneOf(['on', 'off']).optional(),
  GRAPHQL_INTROSPECTION: oneOf(['on', 'off']).optional(),
  GRAPHQL_SUGGESTIONS: oneOf(['on', 'off']).optional(),
  GRAPHQL_PERSISTED_QUERIES: oneOf(['on', 'off']).default('off'),
  GRAPHQL_SUBSCRIPTIONS: oneOf(['on', 'off']).default('off'),
  GRAPHQL_MAX_DEPTH: wholeNumber(1, 100).default(10),
  GRAPHQL_MAX_ALIASES: wholeNumber(0, 10_000).default(30),
  GRAPHQL_MAX_DIRECTIVES: wholeNumber(0, 10_000).default(30),
  GRAPHQL_MAX_REPEATED_FIELDS: wholeNumber(1, 10_000).default(20),
  GRAPHQL_MAX_TOKENS: wholeNumber(1, 100_000).default(2000),
  GRAPHQL_MAX_COST: wholeNumber(1, 10_000_000).default(20_000),
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
  const { data: socialEnv, faults: badAddresses } = parse(socialSettings, environment);
  faults.push(...badAddresses, ...socialFaults(environment));
  if (environment['NODE_ENV'] === 'production' && !environment['JWT_SECRET']) {
    faults.push('JWT_SECRET must be set when NODE_ENV is production');
  }
  const clients = toSocialClients(socialEnv ?? {});
  if (env?.NODE_ENV === 'production' && env.PUBLIC_URL === undefined && Object.keys(clients).length > 0) {
    faults.push('PUBLIC_URL must be set for social login when NODE_ENV is production');
  }
  if (!env || faults.length > 0) throw unusable(faults);

  return Object.freeze<Config>({
    production: env.NODE_ENV === 'production',
    host: env.HOST,
    port: env.PORT,
    store: toStore(env),
    migrateAtStart: env.MIGRATE === 'auto',
    writeAccess: env.WRITE_ACCESS,
    jwtSecret: env.JWT_SECRET ?? developmentSecret(env.DATA_DIR),
    passwordPolicy: toPasswordPolicy(env),
    refreshReuse: env.REFRESH_REUSE,
    publicUrl: (env.PUBLIC_URL ?? addressOf(env)).replace(/\/$/, ''),
    social: Object.freeze({ clients, redirect: env.SOCIAL_LOGIN_REDIRECT }),
    trustedProxies: Object.freeze(env.TRUST_PROXY),
    corsOrigins: env.CORS_ORIGINS ? Object.freeze(env.CORS_ORIGINS) : '*',
    graphql: toGraphqlSettings(env),
    logLevel: env.LOG_LEVEL,
    drainDelay: env.DRAIN_DELAY_MS,
  });
}

const addressOf = ({ HOST, PORT }: z.infer<typeof settings>): string =>
  `http://${isIP(HOST) === 6 ? `[${HOST}]` : HOST}:${PORT}`;

/** Only where the data is, for commands that run beside the service or before it. @throws ConfigError */
export function loadStore(environment: NodeJS.ProcessEnv): Config['store'] {
  const { data, faults } = parse(storeSettings, environment);
  if (!data) throw unusable(faults);
  return toStore(data);
}

/** What helps people who explore helps attackers as well: production has to ask for it. */
function toGraphqlSettings(env: z.infer<typeof settings>): Config['graphql'] {
  const byDefault = env.NODE_ENV === 'production' ? 'off' : 'on';
  return Object.freeze({
    playground: (env.GRAPHQL_PLAYGROUND ?? byDefault) === 'on',
    introspection: (env.GRAPHQL_INTROSPECTION ?? byDefault) === 'on',
    suggestions: (env.GRAPHQL_SUGGESTIONS ?? byDefault) === 'on',
    persistedQueries: env.GRAPHQL_PERSISTED_QUERIES === 'on',
    subscriptions: env.GRAPHQL_SUBSCRIPTIONS === 'on',
    limits: Object.freeze({
      depth: env.GRAPHQL_MAX_DEPTH,
      aliases: env.GRAPHQL_MAX_ALIASES,
      directives: env.GRAPHQL_MAX_DIRECTIVES,
      repeatedFields: env.GRAPHQL_MAX_REPEATED_FIELDS,
      tokens: env.GRAPHQL_MAX_TOKENS,
      cost: env.GRAPHQL_MAX_COST,
    }),
  });
}

/** Only what a password has to be, for the account command. @throws ConfigError */
export function loadPasswordPolicy(environment: NodeJS.ProcessEnv): PasswordPolicyMode {
  const { data, faults } = parse(passwordSettings, environment);
  if (!data) throw unusable(faults);
  return toPasswordPolicy(data);
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

/** People try the service out with short passwords; production has to be told to take them. */
const toPasswordPolicy = (env: z.infer<typeof passwordSettings>): PasswordPolicyMode =>
  env.PASSWORD_POLICY ?? (env.NODE_ENV === 'production' ? 'strict' : 'length');
