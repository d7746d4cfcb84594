import { isIP } from 'node:net';
import { z } from 'zod';
import type { Config, PasswordPolicyMode } from './config.js';
import { developmentSecret } from './development-secret.js';
import { mailSettings, toMail } from './load-mail.js';
import { loadStoreConfig, type StoreConfig, storeSettings } from './load-store.js';
import { readSecretFiles } from './secret-files.js';
import { isBaseUrl, oneOf, parse, text, unusable, wholeNumber } from './settings.js';

const JWT_SECRET_BYTES = 32;

/** An address that a path is appended to, without credentials. */
const isServiceUrl = (value: string) =>
  isBaseUrl(value) && new URL(value).username + new URL(value).password === '';

const encryptionKey = () =>
  text()
    .refine((value) => /^[A-Za-z0-9+/]{43}=$/.test(value), {
      error: 'must be 32 bytes in base64 (openssl rand -base64 32)',
    })
    .transform((value) => Buffer.from(value, 'base64'));

const signingKey = () =>
  text().refine((secret) => Buffer.byteLength(secret) >= JWT_SECRET_BYTES, {
    error: `must be at least ${JWT_SECRET_BYTES} bytes long`,
  });

/** What the service and its commands have in common, besides the store. */
export const commandSettings = z.object({
  ...mailSettings.shape,
  DATA_DIR: storeSettings.shape.DATA_DIR,
  NODE_ENV: oneOf(['development', 'test', 'production']).default('development'),
  PASSWORD_POLICY: oneOf(['length', 'strict']).optional(),
  PASSWORD_BREACH_URL: text()
    .refine(isServiceUrl, {
      error: 'must be the address of a range service, such as https://api.pwnedpasswords.com/range',
    })
    .optional(),
  AUDIT_RETENTION_DAYS: wholeNumber(1, 36_500).default(365),
  LOGIN_MAX_DAYS: wholeNumber(1, 3650).default(90),
  REQUIRE_VERIFIED_EMAIL: oneOf(['on', 'off']).default('off'),
  JWT_SECRET: signingKey().optional(),
  JWT_SECRET_PREVIOUS: signingKey().optional(),
  ENCRYPTION_KEY: encryptionKey().optional(),
  ENCRYPTION_KEY_PREVIOUS: encryptionKey().optional(),
  PUBLIC_URL: text()
    .refine(isServiceUrl, {
      error: 'must be the address of this service, without credentials, such as https://api.example.com',
    })
    .optional(),
  HOST: text().default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(3000),
});

type CommandEnvironment = z.infer<typeof commandSettings>;

export const JWT_SECRET_MISSING = 'JWT_SECRET must be set when NODE_ENV is production';

/** The fields of these settings, without `jwtSecret`, which the service requires and most commands do not. */
type CommandFields = Pick<
  Config,
  | 'passwordPolicy'
  | 'passwordBreachUrl'
  | 'auditRetentionDays'
  | 'publicUrl'
  | 'loginMaxDays'
  | 'requireVerifiedEmail'
  | 'mail'
  | 'jwtSecretPrevious'
  | 'encryptionKey'
  | 'encryptionKeyPrevious'
>;

/** The settings of the modules that commands use. */
export type CommandConfig = StoreConfig & CommandFields & Pick<Config, 'jwtSecret'>;

/** Reads only these, so that most commands need no secrets of the service. @throws ConfigError */
export function loadCommandConfig(variables: NodeJS.ProcessEnv): CommandConfig {
  const store = loadStoreConfig(variables);
  const { environment } = readSecretFiles(variables);
  const { data, faults } = parse(commandSettings, environment);
  if (!data) throw unusable(faults);
  return {
    ...store,
    ...toCommandConfig(data),
    // Few commands need it, and the others must run without it.
    get jwtSecret(): string {
      if (data.JWT_SECRET !== undefined) return data.JWT_SECRET;
      if (data.NODE_ENV === 'production') throw unusable([JWT_SECRET_MISSING]);
      return developmentSecret(data.DATA_DIR);
    },
  };
}

export const toCommandConfig = (env: CommandEnvironment): CommandFields => ({
  passwordPolicy: toPasswordPolicy(env),
  passwordBreachUrl: env.PASSWORD_BREACH_URL?.replace(/\/$/, ''),
  auditRetentionDays: env.AUDIT_RETENTION_DAYS,
  publicUrl: publicUrlOf(env),
  loginMaxDays: env.LOGIN_MAX_DAYS,
  requireVerifiedEmail: env.REQUIRE_VERIFIED_EMAIL === 'on',
  mail: toMail(env, { production: env.NODE_ENV === 'production', directory: env.DATA_DIR }),
  jwtSecretPrevious: env.JWT_SECRET_PREVIOUS,
  encryptionKey: env.ENCRYPTION_KEY,
  encryptionKeyPrevious: env.ENCRYPTION_KEY_PREVIOUS,
});

function publicUrlOf({ PUBLIC_URL, HOST, PORT }: CommandEnvironment): string {
  const url = PUBLIC_URL ?? `http://${isIP(HOST) === 6 ? `[${HOST}]` : HOST}:${PORT}`;
  return url.replace(/\/$/, '');
}

/** Outside of production, only the length is checked, so that people can try the service out. */
const toPasswordPolicy = (env: CommandEnvironment): PasswordPolicyMode =>
  env.PASSWORD_POLICY ?? (env.NODE_ENV === 'production' ? 'strict' : 'length');
