import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../common/http/client.js';
import type { Principal } from '../access/index.js';
import { badCredentials, Credentials, type LoginInput, toAccountView } from '../accounts/index.js';
import { Logins } from '../logins/index.js';
import { Csrf } from './csrf.js';
import type { SessionView } from './session.view.js';
import { Sessions } from './sessions.js';

/** The caller of a handler with `@SessionOnly()`. */
export type Session = Pick<Required<Principal>, 'account' | 'sid'>;

/** Opens and ends sessions in browsers. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly credentials: Credentials,
    private readonly sessions: Sessions,
    private readonly logins: Logins,
    private readonly csrf: Csrf,
  ) {}

  /**
   * Opens a session under a new id, and ends the browser's former one, which prevents session fixation
   * (OWASP).
   *
   * @param former the credential of the browser's former session
   * @returns the credential of the new one as well
   * @throws AppError as {@link Credentials.check}
   */
  async logIn(
    { email, password }: LoginInput,
    client: ClientInfo,
    former = '',
  ): Promise<{ view: SessionView; credential: string }> {
    const account = await this.credentials.check(email, password, client);
    const session = await this.sessions.open(account, client);
    if (!session) throw badCredentials();
    await this.sessions.end(former);
    return { view: this.view({ account, sid: session.sid }), credential: session.credential };
  }

  view({ account, sid }: Session): SessionView {
    return { account: toAccountView(account), csrf_token: this.csrf.tokenOf(sid) };
  }

  async logOut({ account, sid }: Session): Promise<void> {
    await this.logins.endOne(account.id, sid);
  }
}
