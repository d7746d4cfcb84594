import { randomBytes, randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { SessionInfo, Principal } from '../../platform/access/index.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { checkInput } from '../../platform/http/validation/input.pipe.js';
import { Clock } from '../../platform/jobs/clock.js';
import type { Account } from '../account.entity.js';
import { AccountView, toAccountView } from '../account.view.js';
import { hashOf } from '../one-time-secrets.js';
import { has, LoginSteps, type SecondStepRequired } from '../login/login-steps.js';
import { type Authenticated, SessionsService } from '../sessions.service.js';
import { PasskeyLogins } from '../passkey/passkey-logins.js';
import { PasskeySessionInput } from '../passkey/passkey.input.js';
import { LoginCodes } from '../social/login-codes.js';
import { SocialSessionInput } from '../social/social.input.js';
import { Csrf } from './csrf.js';

/** A session as its owner sees it. The credential is in the cookie only. */
@ApiSchema({ name: 'Session' })
export class CookieSessionView {
  @ApiProperty({ type: AccountView })
  readonly account!: AccountView;

  /** The value for `X-CSRF-Token` in unsafe calls; it is the same for the whole session. */
  @ApiProperty({ description: 'Send it as `X-CSRF-Token` with unsafe requests.' })
  readonly csrf_token!: string;
}

/** How long an unused session is valid, in milliseconds. */
const LIFETIME = 14 * 24 * 3600 * 1000;

/** The precision of the last use, in milliseconds, so that not every read writes it. */
const RESOLUTION = 60_000;

const SECRET_BYTES = 32;

/** The content of a cookie: the id of the login, and its secret. */
const CREDENTIAL = /^([\da-f-]{36})\.([\w-]{43})$/;

/** What a login returns, and the content of its cookie. */
interface NewCookie {
  readonly view: CookieSessionView;
  readonly credential: string;
}

/** The caller of a handler with `@CookieOnly()`. */
export type CookieCaller = Pick<Required<Principal>, 'account' | 'sid'>;

/** Logins of browsers, by cookie. The database has only the hash of the secret in the cookie. */
@Injectable()
export class CookiesService {
  private readonly logger = new Logger('Sessions');

  constructor(
    private readonly steps: LoginSteps,
    private readonly passkeys: PasskeyLogins,
    private readonly codes: LoginCodes,
    private readonly sessions: SessionsService,
    private readonly csrf: Csrf,
    private readonly clock: Clock,
  ) {}

  /**
   * @param body either step of a login, the response of a passkey, or the one-time code of a social login
   * @param former the content of the browser's former cookie
   */
  async logIn(body: unknown, client: ClientInfo, former?: string): Promise<NewCookie | SecondStepRequired> {
    const open = (authenticated: Authenticated) => this.open(authenticated, client, former);
    if (has(body, 'passkey')) {
      const { passkey } = await checkInput(PasskeySessionInput, body);
      return open(await this.passkeys.authenticate(passkey, client));
    }
    if (has(body, 'social_code')) {
      const { social_code: code, code_verifier } = await checkInput(SocialSessionInput, body);
      // Without a verifier, another site could log its visitors in to an account of its own.
      return this.codes.redeem({ code, code_verifier: code_verifier ?? '' }, open);
    }
    return this.steps.take(body, client, open);
  }

  /**
   * Opens a session under a new id, and ends the browser's former one, which prevents session fixation (OWASP).
   */
  async open(authenticated: Authenticated, client: ClientInfo, former = ''): Promise<NewCookie> {
    const sid = randomUUID();
    const secret = randomBytes(SECRET_BYTES).toString('base64url');
    const expiresAt = expiryFrom(this.clock.now());
    const login = { id: sid, kind: 'cookie', secretHash: hashOf(secret), expiresAt } as const;
    await this.sessions.open(authenticated, login, client);
    const ended = parse(former);
    if (ended) await this.sessions.endCookie(ended.id, ended.secretHash);
    return { view: this.view({ account: authenticated.account, sid }), credential: `${sid}.${secret}` };
  }

  /** The account of a cookie: `null` when the session is unknown or ended, or the account is inactive. */
  async find(credential: string, client: ClientInfo): Promise<[Account, SessionInfo] | null> {
    const parameters = parse(credential);
    const found = parameters && (await this.sessions.find(parameters));
    if (!found) return null;
    const now = this.clock.now();
    if (now.getTime() - found.lastUsedAt.getTime() >= RESOLUTION) this.recordUse(parameters.id, now, client);
    return [found.account, found.session];
  }

  view({ account, sid }: CookieCaller): CookieSessionView {
    return { account: toAccountView(account), csrf_token: this.csrf.tokenOf(sid) };
  }

  async logOut({ account, sid }: CookieCaller): Promise<void> {
    await this.sessions.end(account.id, sid);
  }

  /** Not awaited: reading by cookie also works while the database cannot write. The next request tries again. */
  private recordUse(id: string, now: Date, client: ClientInfo): void {
    this.sessions
      .touch(id, { lastUsedAt: now, expiresAt: expiryFrom(now) }, client)
      .catch((error: unknown) => {
        this.logger.warn({ msg: 'The use of a session could not be recorded', err: error });
      });
  }
}

const expiryFrom = (now: Date): Date => new Date(now.getTime() + LIFETIME);

function parse(credential: string): { id: string; secretHash: string } | undefined {
  const [, id, secret] = CREDENTIAL.exec(credential) ?? [];
  return id !== undefined && secret !== undefined ? { id, secretHash: hashOf(secret) } : undefined;
}
