import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import type { Config } from './config.js';
import { developmentSecret } from './development-secret.js';
import { readSecretFiles } from './secret-files.js';
import { mailFaults } from './load-mail.js';
import { socialFaults, socialSettings, toSocialClients } from './load-social.js';
import { commandSettings, JWT_SECRET_MISSING, toCommandConfig } from './load-command-config.js';
import { storeSettings, toStore } from './load-store.js';
import { oneOf, parse, text, unusable, wholeNumber } from './settings.js';

const list = (isItem: (value: string) => boolean, error: string) =>
  text()
    .transform((items) => items.split(',').map((item) => item.trim()))
    .refine((items) => items.every(isItem), { error });

/** Of web pages, and of hybrid apps, such as `capacitor://localhost`. */
function isOrigin(value: string): boolean {
  const url = URL.parse(value);
  if (url === null || value.includes('*')) return false;
  return /^https?:$/.test(url.protocol) ? url.origin === value : APP_ORIGIN.test(value);
}

/** A scheme of its own, which is no other kind of page. */
const APP_ORIGIN = /^(?!(?:about|blob|data|file|ftp|javascript|wss?):)[a-z][a-z\d+.-]*:\/\/[a-z\d.-]+$/;

/** Web pages, and apps with a custom scheme. */
const isTarget = (value: string) =>
  URL.canParse(value) && !/^(javascript|data|blob|file|about):/i.test(value) && !value.includes('#');

/** `10.0.0.1`, `10.0.0.0/8`, `fd00::/8` */
function isNetwork(value: string): boolean {
  const [address = '', bits, ...more] = value.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

const privateKey = () =>
  text().refine(isP256, {
    error:
      'must be a private key of the curve P-256 in PEM (openssl ecparam -genkey -name prime256v1 -noout)',
  });

function isP256(pem: string): boolean {
  try {
    const { asymmetricKeyType, asymmetricKeyDetails } = createPrivateKey(pem);
    return asymmetricKeyType === 'ec' && asymmetricKeyDetails?.namedCurve === 'prime256v1';
  } catch {
    return false;
  }
}

const settings = z.object({
  ...storeSettings.shape,
  ...commandSettings.shape,
  SOCIAL_LOGIN_REDIRECT: text()
    .refine(isTarget, { error: 'must be an address such as https://app.example.com/welcome, without #' })
    .optional(),
  METRICS_HOST: text().default('127.0.0.1'),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  WRITE_ACCESS: oneOf(['open', 'authenticated', 'staff']).optional(),
  JWT_PRIVATE_KEY: privateKey().optional(),
  JWT_PRIVATE_KEY_PREVIOUS: privateKey().optional(),
  JWT_AUDIENCE: text().optional(),
  REGISTRATION: oneOf(['open', 'closed']).default('open'),
  ACCOUNT_LINKS_URL: text()
    .refine(isTarget, { error: 'must be an address such as https://app.example.com/account, without #' })
    .optional(),
  REFRESH_REUSE: oneOf(['refuse', 'revoke']).optional(),
  TRUST_PROXY: list(
    isNetwork,
    'must be a comma-separated list of addresses and networks such as 10.0.0.0/8',
  ).default([]),
  CORS_ORIGINS: list(
    isOrigin,
    'must be a comma-separated list of origins such as https://app.example.com or capacitor://localhost; patterns such as https://*.example.com are not supported',
  ).optional(),
  IDEMPOTENCY_MAX_MB: wholeNumber(1, 1_000_000).default(1024),
  EVENTS_RETENTION_DAYS: wholeNumber(1, 3650).default(7),
  WEBHOOKS_ALLOW_PRIVATE: oneOf(['on', 'off']).optional(),
  RATE_LIMIT: text()
    .regex(/^(off|[1-9]\d{0,8}\/[1-9]\d{0,4})$/, {
      error: 'must be off, or requests and seconds such as 100/60',
    })
    .default('off'),
  REDIS_URL: text()
    .refine((value) => /^rediss?:\/\//.test(value) && URL.canParse(value), {
      error: 'must be an address such as redis://user:password@host:6379/0',
    })
    .optional(),
  GRAPHQL_PLAYGROUND: oneOf(['on', 'off']).optional(),
  GRAPHQL_INTROSPECTION: oneOf(['on', 'off']).optional(),
  GRAPHQL_SUGGESTIONS: oneOf(['on', 'off']).optional(),
  GRAPHQL_PERSISTED_QUERIES: oneOf(['on', 'off']).default('off'),
  GRAPHQL_SUBSCRIPTIONS: oneOf(['on', 'off']).default('on'),
  GRAPHQL_MAX_DEPTH: wholeNumber(1, 100).default(10),
  GRAPHQL_MAX_ALIASES: wholeNumber(0, 10_000).default(30),
  GRAPHQL_MAX_DIRECTIVES: wholeNumber(0, 10_000).default(30),
  GRAPHQL_MAX_REPEATED_FIELDS: wholeNumber(1, 10_000).default(20),
  GRAPHQL_MAX_TOKENS: wholeNumber(1, 100_000).default(2000),
  GRAPHQL_MAX_COST: wholeNumber(1, 10_000_000).default(20_000),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  DRAIN_DELAY_MS: wholeNumber(0, 8000).default(500),
});

const WRITE_ACCESS_MISSING =
  'WRITE_ACCESS must be set when NODE_ENV is production: who may change data is open (everyone), ' +
  'authenticated (every account) or staff';

/**
 * Reads the environment; besides it, only `start-tracing.ts` does. An empty variable counts as absent.
 *
 * @throws ConfigError that names every invalid setting, one in each line
 */
export function loadConfig(variables: NodeJS.ProcessEnv): Config {
  const { environment, faults: badFiles } = readSecretFiles(variables);
  const { data: env, faults } = parse(settings, environment);
  const { data: socialEnv, faults: badAddresses } = parse(socialSettings, environment);
  faults.push(...badFiles, ...badAddresses, ...socialFaults(environment), ...mailFaults(environment));
  if (environment['NODE_ENV'] === 'production' && !environment['JWT_SECRET']) {
    faults.push(JWT_SECRET_MISSING);
  }
  if (environment['NODE_ENV'] === 'production' && !environment['WRITE_ACCESS']) {
    faults.push(WRITE_ACCESS_MISSING);
  }
  if (environment['NODE_ENV'] === 'production') faults.push(...guessableSecrets(environment));
  const clients = toSocialClients(socialEnv ?? {});
  if (env?.NODE_ENV === 'production' && env.PUBLIC_URL === undefined && Object.keys(clients).length > 0) {
    faults.push('PUBLIC_URL must be set for social login when NODE_ENV is production');
  }
  if (env?.NODE_ENV === 'production' && env.SMTP_URL && !env.ACCOUNT_LINKS_URL && !env.PUBLIC_URL) {
    faults.push('PUBLIC_URL or ACCOUNT_LINKS_URL must be set for links in mails when NODE_ENV is production');
  }
  const es256 = env?.JWT_PRIVATE_KEY
    ? 'JWT_PRIVATE_KEY'
    : env?.JWT_PRIVATE_KEY_PREVIOUS && 'JWT_PRIVATE_KEY_PREVIOUS';
  if (es256 && env?.PUBLIC_URL === undefined) {
    faults.push(`PUBLIC_URL must be set together with ${es256}: it is the issuer of the tokens`);
  }
  if (env?.METRICS_PORT && env.METRICS_PORT === env.PORT) {
    faults.push('METRICS_PORT must be another port than PORT: metrics are not for clients');
  }
  if (!env || faults.length > 0) throw unusable(faults);

  return Object.freeze<Config>({
    ...toCommandConfig(env),
    production: env.NODE_ENV === 'production',
    host: env.HOST,
    port: env.PORT,
    metricsHost: env.METRICS_HOST,
    metricsPort: env.METRICS_PORT,
    developmentNote: developmentNoteOf(env),
    store: toStore(env),
    migrateAtStart: env.MIGRATE === 'auto',
    writeAccess: env.WRITE_ACCESS ?? 'open',
    jwtSecret: env.JWT_SECRET ?? developmentSecret(env.DATA_DIR),
    jwtPrivateKey: env.JWT_PRIVATE_KEY,
    jwtPrivateKeyPrevious: env.JWT_PRIVATE_KEY_PREVIOUS,
    jwtAudience: env.JWT_AUDIENCE,
    refreshReuse: env.REFRESH_REUSE ?? (env.NODE_ENV === 'production' ? 'revoke' : 'refuse'),
    registrationOpen: env.REGISTRATION === 'open',
    social: Object.freeze({ clients, redirect: env.SOCIAL_LOGIN_REDIRECT }),
    accountLinksUrl: env.ACCOUNT_LINKS_URL,
    trustedProxies: Object.freeze(env.TRUST_PROXY),
    corsOrigins: env.CORS_ORIGINS ? Object.freeze(env.CORS_ORIGINS) : '*',
    idempotencyMaxBytes: env.IDEMPOTENCY_MAX_MB * 1024 * 1024,
    eventsRetentionDays: env.EVENTS_RETENTION_DAYS,
    webhooksAllowPrivate:
      (env.WEBHOOKS_ALLOW_PRIVATE ?? (env.NODE_ENV === 'production' ? 'off' : 'on')) === 'on',
    rateLimit: toRateLimit(env),
    redisUrl: env.REDIS_URL,
    graphql: toGraphqlSettings(env),
    logLevel: env.LOG_LEVEL,
    drainDelay: env.DRAIN_DELAY_MS,
  });
}

/** A placeholder such as `xxxx…` is long enough, and everybody can guess it. */
const guessableSecrets = (environment: Readonly<Record<string, string | undefined>>): string[] =>
  ['JWT_SECRET', 'JWT_SECRET_PREVIOUS', 'ENCRYPTION_KEY', 'ENCRYPTION_KEY_PREVIOUS']
    .filter((name) => {
      const value = environment[name] ?? '';
      const bytes = name.startsWith('ENCRYPTION') ? Buffer.from(value, 'base64') : Buffer.from(value);
      return bytes.length > 0 && bytes.every((byte) => byte === bytes[0]);
    })
    .map((name) => `${name} must not be one repeated character when NODE_ENV is production`);

function developmentNoteOf(env: z.infer<typeof settings>): string | undefined {
  if (env.NODE_ENV === 'production') return undefined;
  const consequences = [
    (env.WRITE_ACCESS ?? 'open') === 'open' && 'everyone may change data',
    env.JWT_SECRET === undefined && `the signing key is generated and kept in ${env.DATA_DIR}/jwt-secret`,
    env.SMTP_URL === undefined && `mails are written to ${env.DATA_DIR}/mail`,
  ].filter((each) => typeof each === 'string');
  const meaning = consequences.length > 0 ? `: ${consequences.join('; ')}` : '';
  return `Development mode${meaning}. Set NODE_ENV=production to serve others`;
}

function toRateLimit({ RATE_LIMIT }: z.infer<typeof settings>): Config['rateLimit'] {
  if (RATE_LIMIT === 'off') return undefined;
  const [max, window] = RATE_LIMIT.split('/').map(Number) as [number, number];
  return Object.freeze({ max, window });
}

/** What helps people to explore also helps attackers: production must enable it explicitly. */
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
