import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { SecurityEvents } from '../../platform/http/security-events.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { Config } from '../../platform/config/config.js';
import { tokenNotValid } from '../../platform/access/index.js';
import { type Account } from '../../accounts/account.entity.js';
import { badCredentials } from '../password/password-logins.js';
import { LoginSteps, SecondStepRequired } from '../login/login-steps.js';
import { type PasskeyLoginInput } from '../passkey/passkey.input.js';
import { PasskeyLogins } from '../passkey/passkey-logins.js';
import { LoginsService } from './logins.service.js';
import type { Claims } from './token-codec.js';
import { TokenCodec } from './token-codec.js';

export class TokenPair {
  @ApiProperty({ description: 'Valid for 30 minutes.' })
  readonly access!: string;

  @ApiProperty({ description: 'Can be exchanged once, within 7 days.' })
  readonly refresh!: string;
}

/** Bearer tokens: from a login to its end, with refresh token rotation (RFC 9700, section 4.14). */
@Injectable()
export class TokensService {
  constructor(
    private readonly steps: LoginSteps,
    private readonly passkeys: PasskeyLogins,
    private readonly codec: TokenCodec,
    private readonly logins: LoginsService,
    private readonly config: Config,
    private readonly security: SecurityEvents,
  ) {}

  /** @param body of either step of a login */
  async login(body: unknown, client: ClientInfo): Promise<TokenPair | SecondStepRequired> {
    const result = await this.steps.take(body, client);
    return result instanceof SecondStepRequired ? result : this.open(result, client);
  }

  async loginByPasskey({ response }: PasskeyLoginInput, client: ClientInfo): Promise<TokenPair> {
    return this.open(await this.passkeys.authenticate(response, client), client);
  }

  /** The first tokens of an account that has just authenticated. */
  async open(account: Account, client: ClientInfo): Promise<TokenPair> {
    const sid = randomUUID();
    const refresh = this.codec.refresh(account, sid);
    const { jti: refreshJti, expiresAt } = refresh;
    const login = { id: sid, kind: 'token', refreshJti, expiresAt } as const;
    if (!(await this.logins.open(account, login, client))) throw badCredentials();
    return { access: this.codec.access(account, sid), refresh: refresh.token };
  }

  /** Exchanges a refresh token, once, for the next tokens. */
  async refresh(token: string, client: ClientInfo): Promise<TokenPair> {
    const claims = this.codec.read(token, 'refresh');
    // Read first: after the token is consumed, nothing may fail.
    const account = await this.owner(claims);
    const next = this.codec.refresh(account, claims.sid);
    if (!(await this.logins.rotate(claims, next, client))) {
      this.security.record('refresh_reused', { accountId: claims.user_id });
      if (this.config.refreshReuse === 'revoke') await this.logins.revoke(claims);
      throw tokenNotValid();
    }
    return { access: this.codec.access(account, claims.sid), refresh: next.token };
  }

  async verify(token: string): Promise<void> {
    const claims = this.codec.read(token, 'access', 'refresh');
    await this.owner(claims);
    if (claims.token_type === 'refresh' && !(await this.logins.isCurrent(claims))) throw tokenNotValid();
  }

  /** Ends the login of a refresh token. */
  async logout(token: string): Promise<void> {
    const { user_id, sid } = this.codec.read(token, 'refresh');
    if (!(await this.logins.end(user_id, sid))) throw tokenNotValid();
  }

  private async owner({ user_id, sid }: Claims): Promise<Account> {
    const found = await this.logins.find({ id: sid, accountId: user_id });
    if (!found) throw tokenNotValid();
    return found.account;
  }
}
