import type { SocialClients } from './social-providers.js';

export type WriteAccessMode = 'open' | 'authenticated' | 'staff';

/** What a password has to be: long enough, or also hard to guess. */
export type PasswordPolicyMode = 'length' | 'strict';

/** What a refresh token that was used before does: it is refused, or ends its whole login as well. */
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
  readonly poolSize: number;
  /** Off behind a pooler that gives each transaction another connection. */
  readonly preparedStatements: boolean;
}

/** The most that an operation may have; it is refused with more, before it is executed. */
export interface GraphqlLimits {
  /** Levels of fields within each other. */
  readonly depth: number;
  readonly aliases: number;
  readonly directives: number;
  /** Selections of one field in one place, those through fragments included. */
  readonly repeatedFields: number;
  /** Words and signs of the text. */
  readonly tokens: number;
  /** Objects that it may answer with, with all lists as long as they may become. */
  readonly cost: number;
}

export interface GraphqlSettings {
  readonly introspection: boolean;
  /** Whether an unknown name is answered with known ones like it. */
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

/** Every setting of the process, checked and frozen; injected by this class as its token. */
export abstract class Config {
  abstract readonly production: boolean;
  abstract readonly host: string;
  abstract readonly port: number;
  abstract readonly store: SqliteStore | PostgresStore;
  /** Whether pending migrations run at start. */
  abstract readonly migrateAtStart: boolean;
  abstract readonly writeAccess: WriteAccessMode;
  /** Key of the HS256 signatures (RFC 7518, section 3.2): at least 32 bytes. */
  abstract readonly jwtSecret: string;
  abstract readonly passwordPolicy: PasswordPolicyMode;
  abstract readonly refreshReuse: RefreshReuse;
  /** Where browsers find this service, without a slash at the end. */
  abstract readonly publicUrl: string;
  abstract readonly social: SocialSettings;
  /** Addresses and networks (CIDR) of the proxies whose `X-Forwarded-For` is believed. */
  abstract readonly trustedProxies: readonly string[];
  /** Origins that may call with credentials; `'*'` is any origin, without credentials. */
  abstract readonly corsOrigins: '*' | readonly string[];
  abstract readonly graphql: GraphqlSettings;
  abstract readonly logLevel: string;
  /** How long a stopping process goes on serving while it reports itself as not ready, in milliseconds. */
  abstract readonly drainDelay: number;
}
