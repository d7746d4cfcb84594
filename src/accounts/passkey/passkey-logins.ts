import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { AuthenticationResponseJSON } from '@simplewebauthn/server';
import { LessThan, Repository } from 'typeorm';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { isStorable } from '../../platform/http/validation/text.js';
import { Clock } from '../../platform/jobs/clock.js';
import { LoginSteps } from '../login/login-steps.js';
import { LoginThrottle } from '../password/login-throttle.js';
import { Passkey } from './passkey.entity.js';
import { toUserHandle, WebAuthn } from './webauthn.js';
import { type Authenticated } from '../sessions.service.js';

export const WRONG_PASSKEY = 'The passkey is unknown, or its response is invalid; start again';

/** Logins by passkey: the authenticator checks its user, so they need no further factor. */
@Injectable()
export class PasskeyLogins {
  constructor(
    @InjectRepository(Passkey) private readonly passkeys: Repository<Passkey>,
    private readonly webauthn: WebAuthn,
    private readonly steps: LoginSteps,
    private readonly throttle: LoginThrottle,
    private readonly security: SecurityEvents,
    private readonly clock: Clock,
  ) {}

  /** The account of a passkey. Wrong responses count as failed logins of the client's network. */
  async authenticate(response: AuthenticationResponseJSON, { address }: ClientInfo): Promise<Authenticated> {
    this.webauthn.requireDomain();
    await this.throttle.assertNotBlocked({ address });
    const counted = await this.throttle.count({ address });
    const authenticated = await this.check(response).catch(async (error: unknown) => {
      const isWrong = error instanceof AppError && error.code === 'UNAUTHENTICATED';
      // What the service could not check must not lock the client out.
      if (!isWrong) await this.throttle.revert(counted).catch(() => undefined);
      throw error;
    });
    await this.throttle.succeed(counted, { clearsPair: false });
    return authenticated;
  }

  private async check(response: AuthenticationResponseJSON): Promise<Authenticated> {
    const challenge = await this.webauthn.useLoginChallenge(response);
    const passkey = challenge === undefined ? null : await this.find(response);
    const counter = passkey && (await this.webauthn.verifyLogin(passkey, response, challenge!));
    const account = passkey?.account;
    if (passkey == null || counter == null || !account?.isActive) throw this.failed(passkey?.accountId);
    const authenticated = this.steps.afterBothFactors(account);
    if (!(await this.use(passkey, counter))) throw this.failed(account.id);
    return authenticated;
  }

  /** @returns false if the passkey was removed concurrently, or a concurrent login has sent a later counter */
  private async use({ id }: Passkey, counter: number): Promise<boolean> {
    // An authenticator without a counter always sends 0.
    const isLater = counter === 0 ? 0 : LessThan(counter);
    const { affected } = await this.passkeys.update(
      { id, counter: isLater },
      { counter, lastUsedAt: this.clock.now() },
    );
    return affected === 1;
  }

  private failed(accountId: number | undefined): AppError {
    this.security.record('login_failed', { accountId, reason: 'passkey' });
    return new AppError('UNAUTHENTICATED', WRONG_PASSKEY);
  }

  private async find({ id, response }: AuthenticationResponseJSON): Promise<Passkey | null> {
    if (!isStorable(id)) return null;
    const passkey = await this.passkeys.findOne({
      where: { credentialId: id },
      relations: { account: true },
    });
    // The authenticator names the user that it has stored with the credential.
    const { userHandle } = response;
    return passkey && (userHandle === undefined || userHandle === toUserHandle(passkey.accountId))
      ? passkey
      : null;
  }
}
