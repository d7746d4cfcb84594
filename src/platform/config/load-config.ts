import { Config, complete, JWT_SECRET_MISSING } from './config.js';
import { ENVIRONMENT, settingsOf, type Values } from './schema.js';
import { rawOf, read, unusable } from './settings.js';
import { readSocialClients, type SocialClients } from './social.js';

/**
 * Reads the environment; besides it, only the command `move` does. An empty variable counts as absent.
 *
 * @throws ConfigError that names every invalid setting, one in each line
 */
export function loadConfig(environment: NodeJS.ProcessEnv): Config {
  const { values, clients, faults } = readAll(environment, true);
  faults.push(...faultsOfService(values, clients));
  if (values.production) faults.push(...guessableSecrets(environment));
  if (faults.length > 0) throw unusable(faults);
  const config = Object.freeze(complete(values, clients, 'service'));
  // Creates that of development at the start.
  if (!config.jwtSecret) throw unusable([JWT_SECRET_MISSING]);
  return config;
}

/** For commands: what only a service must have may be missing. @throws ConfigError */
export function loadCommandConfig(environment: NodeJS.ProcessEnv): Config {
  const { values, clients, faults } = readAll(environment, false);
  if (faults.length > 0) throw unusable(faults);
  return Object.freeze(complete(values, clients, 'command'));
}

/** For an application that only describes its API: it has the default settings, and opens no database. */
export function loadContractsConfig(): Config {
  const { values, clients } = readAll({ LOG_LEVEL: 'silent', DATABASE_URL: 'postgres:///none' }, false);
  return Object.freeze(complete(values, clients, 'contracts'));
}

function readAll(environment: NodeJS.ProcessEnv, isService: boolean) {
  const { production } = read({ production: ENVIRONMENT }, environment).values;
  const { values, faults } = read(settingsOf(production, isService), environment);
  const { clients, faults: faultsOfClients } = readSocialClients(environment);
  return { values, clients, faults: [...faults, ...faultsOfClients] };
}

/** What settings require of each other. */
function faultsOfService(values: Values, clients: SocialClients): string[] {
  const { production, publicUrl, accountLinksUrl, smtpUrl, mailFrom } = values;
  const es256 = values.jwtPrivateKey
    ? 'JWT_PRIVATE_KEY'
    : values.jwtPrivateKeyPrevious && 'JWT_PRIVATE_KEY_PREVIOUS';
  const faults = [
    smtpUrl && !mailFrom && 'MAIL_FROM must be set together with SMTP_URL',
    production && !values.jwtSecret && JWT_SECRET_MISSING,
    production &&
      !publicUrl &&
      Object.keys(clients).length > 0 &&
      'PUBLIC_URL must be set for social login when NODE_ENV is production',
    production &&
      smtpUrl &&
      !accountLinksUrl &&
      !publicUrl &&
      'PUBLIC_URL or ACCOUNT_LINKS_URL must be set for links in mails when NODE_ENV is production',
    es256 && !publicUrl && `PUBLIC_URL must be set together with ${es256}: it is the issuer of the tokens`,
    values.metricsPort &&
      values.metricsPort === values.port &&
      'METRICS_PORT must be another port than PORT: metrics are not for clients',
  ];
  return faults.filter((fault): fault is string => typeof fault === 'string' && fault !== '');
}

/** A placeholder such as `xxxx…` is long enough, and everybody can guess it. */
function guessableSecrets(environment: NodeJS.ProcessEnv): string[] {
  const { jwtSecret, jwtSecretPrevious, encryptionKey, encryptionKeyPrevious } = settingsOf(true);
  return [jwtSecret, jwtSecretPrevious, encryptionKey, encryptionKeyPrevious]
    .filter((setting) => {
      const value = rawOf(setting, environment) ?? '';
      const bytes = setting.variable.startsWith('ENCRYPTION')
        ? Buffer.from(value, 'base64')
        : Buffer.from(value);
      return bytes.length > 0 && bytes.every((byte) => byte === bytes[0]);
    })
    .map(({ variable }) => `${variable} must not be one repeated character when NODE_ENV is production`);
}
