import { isIP } from 'node:net';
import type { Values } from './schema.js';
import { developmentSecret } from './development-secret.js';
import { toMail } from './mail.js';
import type { SocialClients } from './social.js';
import { unusable } from './settings.js';
import { toStore } from './store.js';

export const JWT_SECRET_MISSING = 'JWT_SECRET must be set when NODE_ENV is production';

/** Completes the settings by those that several of them decide. */
export function complete(
  { dataDirectory, database, smtpUrl, mailFrom, socialRedirect: redirect, jwtSecret, ...values }: Values,
  clients: SocialClients,
  purpose: 'service' | 'command' | 'contracts',
) {
  const { production, host, port } = values;
  let signingKey = jwtSecret;
  const url = values.publicUrl ?? `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
  return {
    ...values,
    /** Whether this is the service. A command has the same modules, and neither listens nor works in the background. */
    serves: purpose === 'service',
    /** Whether the database is opened. The contracts of the API follow from the code alone. */
    usesDatabase: purpose !== 'contracts',
    store: toStore({ dataDirectory, database }),
    /** The address of this service for browsers, without a slash at the end. */
    publicUrl: url.replace(/\/$/, ''),
    /** Its path, which a proxy takes off each request; empty at the root of its host. Without a slash at the end. */
    basePath: URL.parse(url)?.pathname.replace(/\/$/, '') ?? '',
    /** Key of the HS256 signatures (RFC 7518, section 3.2): at least 32 bytes. */
    get jwtSecret(): string {
      // Few commands need it, and the others must run without it.
      if (signingKey === undefined && production) throw unusable([JWT_SECRET_MISSING]);
      return (signingKey ??= developmentSecret(dataDirectory));
    },
    mail: toMail({ smtpUrl, mailFrom }, { production, dataDirectory }),
    /** The configured login providers, and the address that gets a one-time code. */
    social: Object.freeze({ clients, redirect }),
    /** What development mode means here, for the log; `undefined` in production. */
    developmentNote: noteOf({ dataDirectory, smtpUrl, jwtSecret, ...values }),
  };
}

function noteOf({
  production,
  writeAccess,
  jwtSecret,
  smtpUrl,
  dataDirectory,
}: Pick<Values, 'production' | 'writeAccess' | 'jwtSecret' | 'smtpUrl' | 'dataDirectory'>):
  string | undefined {
  if (production) return undefined;
  const consequences = [
    writeAccess === 'open' && 'everyone may change data',
    jwtSecret === undefined && `the signing key is generated and kept in ${dataDirectory}/jwt-secret`,
    smtpUrl === undefined && `mails are written to ${dataDirectory}/mail`,
  ].filter((each) => typeof each === 'string');
  const meaning = consequences.length > 0 ? `: ${consequences.join('; ')}` : '';
  return `Development mode${meaning}. Set NODE_ENV=production to serve others`;
}

/** What {@link complete} returns, as the base of a class. */
const Completed = Object as unknown as abstract new () => Readonly<ReturnType<typeof complete>>;

/** All settings of the process, checked and frozen. The class is the injection token. */
export abstract class Config extends Completed {}

export type { MailAddress, MailSettings } from './mail.js';
export type GraphqlSettings = Config['graphql'];
export type GraphqlLimits = GraphqlSettings['limits'];
export type WriteAccessMode = Config['writeAccess'];
export type { PostgresStore, SqliteStore } from './store.js';
