import { Injectable } from '@nestjs/common';
import type { ClientInfo } from '../../platform/http/client.js';
import { checkInput } from '../../platform/http/validation/input.pipe.js';
import type { Principal } from '../../platform/access/index.js';
import { type Account, badCredentials, toAccountView } from '../accounts/index.js';
import { LoginSteps, SecondStepRequired } from '../factors/index.js';
import { Logins } from '../logins/index.js';
import { PasskeyLogins, PasskeySessionInput } from '../passkeys/index.js';
import { LoginCodes, SocialSessionInput } from '../social/index.js';
import { Csrf } from './csrf.js';
import type { SessionView } from './session.view.js';
import { Sessions } from './sessions.js';

/** The caller of a handler with `@SessionOnly()`. */
export type Session = Pick<Required<Principal>, 'account' | 'sid'>;

/** Opens and ends sessions in browsers. */
@Injectable()
export class SessionsService {
  constructor(
    private readonly steps: LoginSteps,
    private readonly passkeys: PasskeyLogins,
    private readonly codes: LoginCodes,
    private readonly sessions: Sessions,
    private readonly logins: Logins,
    private readonly csrf: Csrf,
  ) {}

  /**
   * Opens a session under a new id, and ends the browser's former one, which prevents session fixation
   * (OWASP).
   *
   * @param body either step of a login, the response of a passkey, or the one-time code of a social login
   * @param former the credential of the browser's former session
   * @returns the credential of the new one as well, once the login is complete
   * @throws AppError as {@link LoginSteps.take}, {@link PasskeyLogins.authenticate}, {@link LoginCodes.redeem}
   */
  async logIn(
    body: unknown,
    client: ClientInfo,
    former = '',
  ): Promise<{ view: SessionView; credential: string } | SecondStepRequired> {
    const account = await this.authenticate(body, client);
    if (account instanceof SecondStepRequired) return account;
    const session = await this.sessions.open(account, client);
    if (!session) throw badCredentials();
    await this.sessions.end(former);
    return { view: this.view({ account, sid: session.sid }), credential: session.credential };
  }

  private async authenticate(body: unknown, client: ClientInfo): Promise<Account | SecondStepRequired> {
    if (has(body, 'passkey')) {
      const { passkey } = await checkInput(PasskeySessionInput, body);
      return this.passkeys.authenticate(passkey, client);
    }
    if (has(body, 'social_code')) {
      const { social_code: code, code_verifier } = await checkInput(SocialSessionInput, body);
      // Without a verifier, another site could log its visitors in to an account of its own.
      return this.codes.redeem({ code, code_verifier: code_verifier ?? '' });
    }
    return this.steps.take(body, client);
  }

  view({ account, sid }: Session): SessionView {
    return { account: toAccountView(account), csrf_token: this.csrf.tokenOf(sid) };
  }

  async logOut({ account, sid }: Session): Promise<void> {
    await this.logins.endOne(account.id, sid);
  }
}

const has = (body: unknown, field: string): boolean =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, field);
