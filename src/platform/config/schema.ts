import { isNetwork, isOrigin, isP256, isServiceUrl, isTarget } from './rules.js';
import { MAIL_SETTINGS } from './mail.js';
import {
  list,
  oneOf,
  onOff,
  secret,
  setting,
  text,
  textThat,
  type ValuesOf,
  wholeNumber,
} from './settings.js';
import { storeSettings } from './store.js';

const SIGNING_KEY_BYTES = 32;

const signingKey = () =>
  textThat(
    (value) => Buffer.byteLength(value) >= SIGNING_KEY_BYTES,
    `must be at least ${SIGNING_KEY_BYTES} bytes long`,
  ).optional();

const privateKey = () =>
  textThat(
    isP256,
    'must be a private key of the curve P-256 in PEM (openssl ecparam -genkey -name prime256v1 -noout)',
  ).optional();

const encryptionKey = () =>
  textThat(
    (value) => /^[A-Za-z0-9+/]{43}=$/.test(value),
    'must be 32 bytes in base64 (openssl rand -base64 32)',
  )
    .transform((value) => Buffer.from(value, 'base64'))
    .optional();

const target = (path: string) =>
  textThat(isTarget, `must be an address such as https://app.example.com/${path}, without #`).optional();

const WRITE_ACCESS_MISSING =
  'must be set when NODE_ENV is production: who may change data is open (everyone), ' +
  'authenticated (every account) or staff';

export const ENVIRONMENT = setting(
  'NODE_ENV',
  oneOf(['development', 'test', 'production'])
    .default('development')
    .transform((value) => value === 'production'),
);

/**
 * Every setting, with its default, by its property of `Config`; `docs/configuration.md` describes them. What is
 * unsafe in production has another default there, or has to be set for the service.
 */
export const settingsOf = (production: boolean, isService = true) => ({
  production: ENVIRONMENT,
  ...storeSettings,
  /** Whether pending migrations run at start. */
  migrateAtStart: setting(
    'MIGRATE',
    oneOf(['auto', 'off'])
      .default('auto')
      .transform((value) => value === 'auto'),
  ),
  host: setting('HOST', text().default('127.0.0.1')),
  port: setting('PORT', wholeNumber(0, 65_535).default(3000)),
  /** The address for Prometheus: metrics are not for clients. */
  metricsHost: setting('METRICS_HOST', text().default('127.0.0.1')),
  /** The port for Prometheus; without it, nothing is measured. */
  metricsPort: setting('METRICS_PORT', wholeNumber(0, 65_535).optional()),
  /** The address of this service for browsers, without a slash at the end. */
  publicUrl: setting(
    'PUBLIC_URL',
    textThat(
      isServiceUrl,
      'must be the address of this service, without credentials, such as https://api.example.com',
    ).optional(),
  ),
  writeAccess: setting(
    'WRITE_ACCESS',
    production && isService
      ? oneOf(['open', 'authenticated', 'staff'], WRITE_ACCESS_MISSING)
      : oneOf(['open', 'authenticated', 'staff']).default('open'),
  ),
  /** Key of the HS256 signatures (RFC 7518, section 3.2): at least 32 bytes. */
  jwtSecret: secret('JWT_SECRET', signingKey()),
  /** Verifies signatures during a rotation of `jwtSecret`; it never signs. */
  jwtSecretPrevious: secret('JWT_SECRET_PREVIOUS', signingKey()),
  /** Signs tokens with ES256 instead of HS256 (PEM, P-256). */
  jwtPrivateKey: secret('JWT_PRIVATE_KEY', privateKey()),
  /** Verifies ES256 signatures while the private key is replaced; it never signs. */
  jwtPrivateKeyPrevious: secret('JWT_PRIVATE_KEY_PREVIOUS', privateKey()),
  /** Who ES256 tokens are for, the claim `aud`. Absent: `publicUrl`. */
  jwtAudience: setting('JWT_AUDIENCE', text().optional()),
  /** Encrypts stored secrets: 32 bytes. Absent: a key derived from `jwtSecret`. */
  encryptionKey: secret('ENCRYPTION_KEY', encryptionKey()),
  /** Decrypts during a rotation of `encryptionKey`; it never encrypts. */
  encryptionKeyPrevious: secret('ENCRYPTION_KEY_PREVIOUS', encryptionKey()),
  /** The rules for passwords: long enough, or also hard to guess. */
  passwordPolicy: setting(
    'PASSWORD_POLICY',
    oneOf(['length', 'strict']).default(production ? 'strict' : 'length'),
  ),
  /** A range service for passwords that have leaked (k-anonymity), without a slash at the end. */
  passwordBreachUrl: setting(
    'PASSWORD_BREACH_URL',
    textThat(
      isServiceUrl,
      'must be the address of a range service, such as https://api.pwnedpasswords.com/range',
    )
      .transform((value) => value.replace(/\/$/, ''))
      .optional(),
  ),
  /** The effect of a used refresh token: it is rejected, or revokes its whole login as well. */
  refreshReuse: setting(
    'REFRESH_REUSE',
    oneOf(['refuse', 'revoke']).default(production ? 'revoke' : 'refuse'),
  ),
  /** After how many days a login ends for good, however often it is refreshed. */
  loginMaxDays: setting('LOGIN_MAX_DAYS', wholeNumber(1, 3650).default(90)),
  /** Whether people may create accounts; otherwise only commands do. */
  registrationOpen: setting(
    'REGISTRATION',
    oneOf(['open', 'closed'])
      .default('open')
      .transform((value) => value === 'open'),
  ),
  /** Whether login requires a verified e-mail. */
  requireVerifiedEmail: setting('REQUIRE_VERIFIED_EMAIL', onOff(false)),
  ...MAIL_SETTINGS,
  /** The page of the front end for links in mails; without it, they open a page of this service. */
  accountLinksUrl: setting('ACCOUNT_LINKS_URL', target('account')),
  /** The address that gets a one-time code of a social login; without it, the response has the tokens. */
  socialRedirect: setting('SOCIAL_LOGIN_REDIRECT', target('welcome')),
  /** Addresses and networks (CIDR) of the proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: setting(
    'TRUST_PROXY',
    list(isNetwork, 'must be a comma-separated list of addresses and networks such as 10.0.0.0/8').default(
      [],
    ),
  ),
  /** Origins that may call with credentials; `'*'` is any origin, without credentials. */
  corsOrigins: setting(
    'CORS_ORIGINS',
    list(
      isOrigin,
      'must be a comma-separated list of origins such as https://app.example.com or capacitor://localhost; patterns such as https://*.example.com are not supported',
    )
      .optional()
      .transform((origins) => origins ?? ('*' as const)),
  ),
  /** How long entries of the audit log are kept, in days. */
  auditRetentionDays: setting('AUDIT_RETENTION_DAYS', wholeNumber(1, 36_500).default(365)),
  /** How long events are kept, in days. */
  eventsRetentionDays: setting('EVENTS_RETENTION_DAYS', wholeNumber(1, 3650).default(7)),
  /** Whether webhooks may have addresses outside of the public Internet. */
  webhooksAllowPrivate: setting('WEBHOOKS_ALLOW_PRIVATE', onOff(!production)),
  /** The number of requests that a client may send in a window, in seconds. Absent: no limit. */
  rateLimit: setting(
    'RATE_LIMIT',
    text()
      .regex(/^(off|[1-9]\d{0,8}\/[1-9]\d{0,4})$/, {
        error: 'must be off, or requests and seconds such as 100/60',
      })
      .default('off')
      .transform((value) => {
        if (value === 'off') return undefined;
        const [max, window] = value.split('/').map(Number) as [number, number];
        return Object.freeze({ max, window });
      }),
  ),
  /** The Redis that replicas share for counters and modules use for queues. */
  redisUrl: secret(
    'REDIS_URL',
    textThat(
      (value) => /^rediss?:\/\//.test(value) && URL.canParse(value),
      'must be an address such as redis://user:password@host:6379/0',
    ).optional(),
  ),
  /** What helps people to explore also helps attackers: production must turn it on. */
  graphql: {
    playground: setting('GRAPHQL_PLAYGROUND', onOff(!production)),
    introspection: setting('GRAPHQL_INTROSPECTION', onOff(!production)),
    /** Whether the error for an unknown name suggests known ones. */
    suggestions: setting('GRAPHQL_SUGGESTIONS', onOff(!production)),
    /** Automatic persisted queries: clients send the hash of a document that the service already has. */
    persistedQueries: setting('GRAPHQL_PERSISTED_QUERIES', onOff(false)),
    /** The limits of an operation, checked before its execution. */
    limits: {
      /** Levels of nested fields. */
      depth: setting('GRAPHQL_MAX_DEPTH', wholeNumber(1, 100).default(10)),
      aliases: setting('GRAPHQL_MAX_ALIASES', wholeNumber(0, 10_000).default(30)),
      directives: setting('GRAPHQL_MAX_DIRECTIVES', wholeNumber(0, 10_000).default(30)),
      /** Selections of one field in one place, including fragments. */
      repeatedFields: setting('GRAPHQL_MAX_REPEATED_FIELDS', wholeNumber(1, 10_000).default(20)),
      /** Tokens of the document. */
      tokens: setting('GRAPHQL_MAX_TOKENS', wholeNumber(1, 100_000).default(2000)),
      /** Objects in the response, with all lists at their maximum length. */
      cost: setting('GRAPHQL_MAX_COST', wholeNumber(1, 10_000_000).default(20_000)),
    },
  },
  logLevel: setting(
    'LOG_LEVEL',
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  ),
  /** How long a stopping process serves while it reports itself as not ready, in milliseconds. */
  drainDelay: setting('DRAIN_DELAY_MS', wholeNumber(0, 8000).default(500)),
});

/** The settings as they are read; `Config` completes them. */
export type Values = ValuesOf<ReturnType<typeof settingsOf>>;
