import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors/errors.js';
import { clientOf } from '../../common/request/client.js';
import type { Principal } from '../access/index.js';
import { badCredentials, Credentials, type LoginInput, toAccountView } from '../accounts/index.js';
import { Logins } from '../logins/index.js';
import { Csrf } from './csrf.js';
import { SessionCookie } from './session-cookie.js';
import type { SessionView } from './session.view.js';
import { Sessions } from './sessions.js';

/** Opens and ends sessions in browsers. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly credentials: Credentials,
    private readonly sessions: Sessions,
    private readonly logins: Logins,
    private readonly cookie: SessionCookie,
    private readonly csrf: Csrf,
  ) {}

  /**
   * Opens a session under a new id, and ends the browser's former one, which prevents session fixation
   * (OWASP).
   *
   * @throws AppError as {@link Credentials.check}
   */
  async logIn(
    { email, password }: LoginInput,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<SessionView> {
    const client = clientOf(request);
    const account = await this.credentials.check(email, password, client);
    const session = await this.sessions.open(account, client);
    if (!session) throw badCredentials();
    await this.sessions.end(this.cookie.read(request) ?? '');
    this.cookie.write(reply, session.credential);
    return this.view({ account, sid: session.sid, kind: 'cookie' });
  }

  /** @throws AppError `UNAUTHENTICATED` if the caller authenticated by a token */
  view({ account, sid, kind }: Principal): SessionView {
    if (sid === undefined || kind !== 'cookie') throw noSession();
    return { account: toAccountView(account), csrf_token: this.csrf.tokenOf(sid) };
  }

  /** @throws AppError `UNAUTHENTICATED` if the caller authenticated by a token */
  async logOut({ account, sid, kind }: Principal, reply: FastifyReply): Promise<void> {
    if (sid === undefined || kind !== 'cookie') throw noSession();
    await this.logins.endOne(account.id, sid);
    this.cookie.clear(reply);
  }
}

const noSession = (): AppError =>
  new AppError('UNAUTHENTICATED', 'Send the session cookie; a token is not accepted here');
