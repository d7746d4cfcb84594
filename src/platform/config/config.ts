import type { SocialClients } from './social-providers.js';

export type WriteAccessMode = 'open' | 'authenticated' | 'staff';

/** The rules for passwords: long enough, or also hard to guess. */
export type PasswordPolicyMode = 'length' | 'strict';

/** The effect of a used refresh token: it is rejected, or revokes its whole login as well. */
export type RefreshReuse = 'refuse' | 'revoke';

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

/** The limits of an operation, checked before its execution. */
export interface GraphqlLimits {
  /** Levels of nested fields. */
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  /** Selections of one field in one place, including fragments. */
  readonly repeatedFields: number;
  /** Tokens of the document. */
  readonly tokens: number;
  /** Objects in the response, with all lists at their maximum length. */
  readonly cost: number;
}

export interface GraphqlSettings {
  readonly introspection: boolean;
  /** Whether the error for an unknown name suggests known ones. */
  readonly suggestions: boolean;
  readonly playground: boolean;
  /** Automatic persisted queries: clients send the hash of a document that the service already has. */
  readonly persistedQueries: boolean;
  /** Subscriptions over WebSocket, with the protocol of graphql-ws. */
  readonly subscriptions: boolean;
  readonly limits: GraphqlLimits;
}

export interface SocialSettings {
  /** The configured providers, by name. */
  readonly clients: SocialClients;
  /** The address that gets a one-time code; without it, the response has the tokens. */
  readonly redirect: string | undefined;
}

/** The number of requests that a client may send. */
export interface RateLimitSettings {
  readonly max: number;
  /** In seconds. */
  readonly window: number;
}

/** The sender of mails. */
export interface MailSenderAddress {
  readonly name: string;
  readonly address: string;
}

/** The transport of mail: SMTP, a folder for development, or none. */
export type MailSettings =
  | {
      readonly kind: 'smtp';
      /** Contains a secret, so it is never logged. */
      readonly url: string;
      readonly from: MailSenderAddress;
    }
  | { readonly kind: 'folder'; readonly directory: string; readonly from: MailSenderAddress }
  | { readonly kind: 'none' };

/** All settings of the process, checked and frozen. The class is the injection token. */
export abstract class Config {
  abstract readonly production: boolean;
  abstract readonly host: string;
  abstract readonly port: number;
  /** The address for Prometheus: metrics are not for clients. */
  abstract readonly metricsHost: string;
  /** The port for Prometheus; without it, nothing is measured. */
  abstract readonly metricsPort: number | undefined;
  abstract readonly store: SqliteStore | PostgresStore;
  /** Whether pending migrations run at start. */
  abstract readonly migrateAtStart: boolean;
  abstract readonly writeAccess: WriteAccessMode;
  /** What development mode means here, for the log; `undefined` in production. */
  abstract readonly developmentNote: string | undefined;
  /** Key of the HS256 signatures (RFC 7518, section 3.2): at least 32 bytes. */
  abstract readonly jwtSecret: string;
  /** Verifies signatures during a rotation of `jwtSecret`; it never signs. */
  abstract readonly jwtSecretPrevious: string | undefined;
  /** Signs tokens with ES256 instead of HS256 (PEM, P-256). */
  abstract readonly jwtPrivateKey: string | undefined;
  /** Verifies ES256 signatures while the private key is replaced; it never signs. */
  abstract readonly jwtPrivateKeyPrevious: string | undefined;
  /** Who ES256 tokens are for, the claim `aud`. Absent: `publicUrl`. */
  abstract readonly jwtAudience: string | undefined;
  /** Encrypts stored secrets: 32 bytes. Absent: a key derived from `jwtSecret`. */
  abstract readonly encryptionKey: Buffer | undefined;
  /** Decrypts during a rotation of `encryptionKey`; it never encrypts. */
  abstract readonly encryptionKeyPrevious: Buffer | undefined;
  abstract readonly passwordPolicy: PasswordPolicyMode;
  abstract readonly refreshReuse: RefreshReuse;
  /** After how many days a login ends for good, however often it is refreshed. */
  abstract readonly loginMaxDays: number;
  /** Whether people may create accounts; otherwise only commands do. */
  abstract readonly registrationOpen: boolean;
  /** A range service for passwords that have leaked (k-anonymity), without a slash at the end. */
  abstract readonly passwordBreachUrl: string | undefined;
  /** The address of this service for browsers, without a slash at the end. */
  abstract readonly publicUrl: string;
  abstract readonly social: SocialSettings;
  abstract readonly mail: MailSettings;
  /** The page of the front end for links in mails; without it, they open a page of this service. */
  abstract readonly accountLinksUrl: string | undefined;
  /** Whether login requires a verified e-mail. */
  abstract readonly requireVerifiedEmail: boolean;
  /** Addresses and networks (CIDR) of the proxies whose `X-Forwarded-For` is trusted. */
  abstract readonly trustedProxies: readonly string[];
  /** Origins that may call with credentials; `'*'` is any origin, without credentials. */
  abstract readonly corsOrigins: '*' | readonly string[];
  /** How long entries of the audit log are kept, in days. */
  abstract readonly auditRetentionDays: number;
  /** The maximum size of all responses stored for idempotency keys, in bytes. */
  abstract readonly idempotencyMaxBytes: number;
  /** How long events are kept. */
  abstract readonly eventsRetentionDays: number;
  /** Whether webhooks may have addresses outside of the public Internet. */
  abstract readonly webhooksAllowPrivate: boolean;
  /** Absent: no limit. */
  abstract readonly rateLimit: RateLimitSettings | undefined;
  /** The Redis that replicas share for counters and modules use for queues; contains a secret, so never logged. */
  abstract readonly redisUrl: string | undefined;
  abstract readonly graphql: GraphqlSettings;
  abstract readonly logLevel: string;
  /** How long a stopping process serves while it reports itself as not ready, in milliseconds. */
  abstract readonly drainDelay: number;
}
