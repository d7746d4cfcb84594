export type WriteAccessMode = 'open' | 'authenticated' | 'staff';

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

/** Every setting of the process, checked and frozen; injected by this class as its token. */
export abstract class Config {
  abstract readonly production: boolean;
  abstract readonly host: string;
  abstract readonly port: number;
  /** Processes that serve; more than one takes PostgreSQL. */
  abstract readonly workers: number;
  abstract readonly store: SqliteStore | PostgresStore;
  /** Whether pending migrations run at start. */
  abstract readonly migrateAtStart: boolean;
  abstract readonly writeAccess: WriteAccessMode;
  /** Key of the HS256 signatures (RFC 7518, section 3.2): at least 32 bytes. */
  abstract readonly jwtSecret: string;
  /** Origins that may call with credentials; `'*'` is any origin, without credentials. */
  abstract readonly corsOrigins: '*' | readonly string[];
  abstract readonly logLevel: string;
  /** How long a stopping process goes on serving while it reports itself as not ready, in milliseconds. */
  abstract readonly drainDelay: number;
}
