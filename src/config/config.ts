import type { SocialClients } from './social-providers.js';

export type WriteAccessMode = 'open' | 'authenticated' | 'staff';

/** What a password has to be: long enough, or also hard to guess. */
export type PasswordPolicyMode = 'length' | 'strict';

/** What a refresh token that was used before does: it is rejected, or ends its whole login as well. */
export type RefreshReuse = 'refuse' | 'revoke';

export interface SqliteStore {
  readonly kind: 'sqlite';
  /** Folder of the database file; made when it is missing. */
  readonly directory: string;
}

export interface PostgresStore {
  readonly kind: 'postgres';
  /** `postgres://user:password@host:port/database`; holds a secret, so it is never logged. */
  readonly url: string;
  /** Servers of which one is the primary, as `url`, which is the first; empty where that is the only one. */
  readonly servers: readonly string[];
  readonly poolSize: number;
  /** Standbys that reads may go to, as `url`; they hold secrets, too. */
  readonly replicaUrls: readonly string[];
  /** Whether a pooler gives each transaction another connection, so that nothing may be set for a session. */
  readonly pooled: boolean;
  /** By name, once per connection. */
  readonly preparedStatements: boolean;
}

/** The most that an operation may have; it is rejected with more, before it is executed. */
export interface GraphqlLimits {
  /** Levels of fields within each other. */
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  /** Selections of one field in one place, those through fragments included. */
  readonly repeatedFields: number;
  /** Words and signs of the text. */
  readonly tokens: number;
  /** Objects that it may respond with, with all lists as long as they may become. */
  readonly cost: number;
}

export interface GraphqlSettings {
  readonly introspection: boolean;
  /** Whether an unknown name gets known ones like it. */
  readonly suggestions: boolean;
  readonly playground: boolean;
  /** Automatic persisted queries: clients send the hash of a document that the service has seen before. */
  readonly persistedQueries: boolean;
  /** Subscriptions over WebSocket, by the protocol of graphql-ws. */
  readonly subscriptions: boolean;
  readonly limits: GraphqlLimits;
}

export interface SocialSettings {
  /** Those that are configured, by name. */
  readonly clients: SocialClients;
  /** Where people are sent with a one-time code; without it they are shown their tokens. */
  readonly redirect: string | undefined;
}

/** How many requests a client may send. */
export interface RateLimitSettings {
  readonly max: number;
  /** In seconds. */
  readonly window: number;
}

/** Who mails come from. */
export interface MailSenderAddress {
  readonly name: string;
  readonly address: string;
}

/** How mail leaves: over SMTP, into a folder for trying out, or not at all. */
export type MailSettings =
  | {
      readonly kind: 'smtp';
      /** Holds a secret, so it is never logged. */
      readonly url: string;
      readonly from: MailSenderAddress;
    }
  | { readonly kind: 'folder'; readonly directory: string; readonly from: MailSenderAddress }
  | { readonly kind: 'none' };

/** Where traces go, by OTLP over HTTP. */
export interface TracingSettings {
  /** Without the path of a signal, and without a slash at the end. */
  readonly endpoint: string;
  readonly serviceName: string;
  /** Of the traces that begin here, from 0 to 1. */
  readonly ratio: number;
}

/** Every setting of the process, checked and frozen; injected by this class as its token. */
export abstract class Config {
  abstract readonly production: boolean;
  abstract readonly host: string;
  abstract readonly port: number;
  /** Where Prometheus asks for metrics; absent: nowhere, and nothing is measured. */
  abstract readonly metricsPort: number | undefined;
  abstract readonly store: SqliteStore | PostgresStore;
  /** Whether pending migrations run at start. */
  abstract readonly migrateAtStart: boolean;
  abstract readonly writeAccess: WriteAccessMode;
  /** Key of the HS256 signatures (RFC 7518, section 3.2): at least 32 bytes. */
  abstract readonly jwtSecret: string;
  /** Verifies and never signs, while `jwtSecret` is being rotated. */
  abstract readonly jwtSecretPrevious: string | undefined;
  abstract readonly passwordPolicy: PasswordPolicyMode;
  abstract readonly refreshReuse: RefreshReuse;
  /** Where browsers find this service, without a slash at the end. */
  abstract readonly publicUrl: string;
  abstract readonly social: SocialSettings;
  abstract readonly mail: MailSettings;
  /** The page of the front end that links in mails lead to; without it, they lead to a page of this service. */
  abstract readonly accountLinksUrl: string | undefined;
  /** Whether an account can log in only after its e-mail has been verified. */
  abstract readonly requireVerifiedEmail: boolean;
  /** Addresses and networks (CIDR) of the proxies whose `X-Forwarded-For` is believed. */
  abstract readonly trustedProxies: readonly string[];
  /** Origins that may call with credentials; `'*'` is any origin, without credentials. */
  abstract readonly corsOrigins: '*' | readonly string[];
  /** How long entries of the audit log are kept, in days. */
  abstract readonly auditRetentionDays: number;
  /** Bytes that the responses kept for idempotency keys may take together. */
  abstract readonly idempotencyMaxBytes: number;
  /** How long events are kept. */
  abstract readonly eventsRetentionDays: number;
  /** Whether webhooks may lead to addresses outside of the public Internet. */
  abstract readonly webhooksAllowPrivate: boolean;
  /** Absent: unlimited. */
  abstract readonly rateLimit: RateLimitSettings | undefined;
  /** Where replicas count requests together, and modules keep queues; holds a secret, so it is never logged. */
  abstract readonly redisUrl: string | undefined;
  /** Names of what is switched on for this deployment; modules ask for theirs. */
  abstract readonly features: ReadonlySet<string>;
  abstract readonly graphql: GraphqlSettings;
  abstract readonly logLevel: string;
  /** Absent: nothing is traced. */
  abstract readonly tracing: TracingSettings | undefined;
  /** How long a stopping process goes on serving while it reports itself as not ready, in milliseconds. */
  abstract readonly drainDelay: number;
}
