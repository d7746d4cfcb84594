import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { Clock } from '../../platform/jobs/clock.js';
import type { ClientInfo } from '../../platform/http/client.js';
import type { LoginInfo } from '../../platform/access/index.js';
import type { Account } from '../accounts/index.js';
import { Logins } from '../logins/index.js';

/** How long an unused session is valid, in milliseconds. */
const LIFETIME = 14 * 24 * 3600 * 1000;

/** The precision of the last use, in milliseconds, so that not every read writes it. */
const RESOLUTION = 60_000;

const SECRET_BYTES = 32;

/** The content of a cookie: the id of the login, and its secret. */
const CREDENTIAL = /^([\da-f-]{36})\.([\w-]{43})$/;

export interface OpenedSession {
  readonly sid: string;
  /** The content of the cookie; it is not stored. */
  readonly credential: string;
}

/** Logins by cookie. The database has only the hash of the secret. */
@Injectable()
export class Sessions {
  private readonly logger = new Logger(Sessions.name);

  constructor(
    private readonly logins: Logins,
    private readonly clock: Clock,
  ) {}

  /** @returns `undefined` if the account or its password was changed concurrently */
  async open(account: Account, client: ClientInfo): Promise<OpenedSession | undefined> {
    const sid = randomUUID();
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const expiresAt = expiryFrom(this.clock.now());
    const login = { id: sid, kind: 'cookie', secretHash: hash(secret), expiresAt } as const;
    if (!(await this.logins.open(account, login, client))) return undefined;
    return { sid, credential: `${sid}.${secret}` };
  }

  /** The account of a cookie: `null` when the session is unknown or ended, or the account is inactive. */
  async find(credential: string, client: ClientInfo): Promise<[Account, LoginInfo] | null> {
    const parameters = parse(credential);
    const found = parameters && (await this.logins.find(parameters));
    if (!found) return null;
    const now = this.clock.now();
    if (now.getTime() - found.lastUsedAt.getTime() >= RESOLUTION) this.recordUse(parameters.id, now, client);
    return [found.account, found.login];
  }

  /** Not awaited: reading by cookie also works while the database cannot write. The next request tries again. */
  private recordUse(id: string, now: Date, client: ClientInfo): void {
    this.logins.touch(id, { lastUsedAt: now, expiresAt: expiryFrom(now) }, client).catch((error: unknown) => {
      this.logger.warn({ msg: 'The use of a session could not be recorded', err: error });
    });
  }

  /** Ends the session of a cookie, if there is one. */
  async end(credential: string): Promise<void> {
    const parameters = parse(credential);
    if (parameters) await this.logins.endCookie(parameters.id, parameters.secretHash);
  }
}

const expiryFrom = (now: Date): Date => new Date(now.getTime() + LIFETIME);

function parse(credential: string): { id: string; secretHash: string } | undefined {
  const [, id, secret] = CREDENTIAL.exec(credential) ?? [];
  return id !== undefined && secret !== undefined ? { id, secretHash: hash(secret) } : undefined;
}

/** 256 random bits need neither a salt nor a slow hash. */
const hash = (secret: string): string => createHash('sha256').update(secret).digest('base64url');
