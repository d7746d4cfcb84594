import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThanOrEqual, Not, Repository } from 'typeorm';
import { tokenNotValid } from '../../platform/access/index.js';
import { Config } from '../../platform/config/config.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { Clock } from '../../platform/jobs/clock.js';
import { type Account } from '../account.entity.js';
import { Session } from '../session.entity.js';
import { SessionsService } from '../sessions.service.js';
import { type Claims, TokenCodec } from './token-codec.js';
import type { TokenPair } from './tokens.service.js';

/** How long a refresh token may be presented again after its exchange, in milliseconds. */
const REUSE_TOLERANCE = 10_000;

/** Refresh token rotation (RFC 9700, section 4.14). The row of a login has the id of its current token. */
@Injectable()
export class RefreshTokens {
  constructor(
    @InjectRepository(Session) private readonly rows: Repository<Session>,
    private readonly sessions: SessionsService,
    private readonly codec: TokenCodec,
    private readonly clock: Clock,
    private readonly config: Config,
    private readonly security: SecurityEvents,
  ) {}

  /** Exchanges a refresh token, once, for the next tokens. */
  async exchange(token: string, { address, agent }: ClientInfo): Promise<TokenPair> {
    const claims = this.codec.read(token, 'refresh');
    // Read first: after the token is consumed, nothing may fail.
    const account = await this.ownerOf(claims);
    const next = this.codec.refresh(account, claims.sid);
    // One statement: of any number of concurrent exchanges, exactly one succeeds.
    const { affected } = await this.rows
      .createQueryBuilder()
      .update()
      .set({
        refreshJti: next.jti,
        previousJti: claims.jti,
        address,
        agent,
        lastUsedAt: this.clock.now(),
        expiresAt: next.expiresAt,
      })
      .where(this.current(claims))
      .andWhere('account_id IN (SELECT id FROM accounts WHERE is_active)')
      .execute();
    if (affected !== 1) {
      this.security.record('refresh_reused', { accountId: claims.user_id });
      if (this.config.refreshReuse === 'revoke') await this.revoke(claims);
      throw tokenNotValid();
    }
    return { access: this.codec.access(account, claims.sid), refresh: next.token };
  }

  /** Checks a token of either type. */
  async verify(token: string): Promise<void> {
    const claims = this.codec.read(token, 'access', 'refresh');
    await this.ownerOf(claims);
    if (claims.token_type === 'refresh' && !(await this.rows.existsBy(this.current(claims))))
      throw tokenNotValid();
  }

  /** Ends the login of a refresh token. */
  async logout(token: string): Promise<void> {
    const { user_id, sid } = this.codec.read(token, 'refresh');
    if (!(await this.sessions.end(user_id, sid))) throw tokenNotValid();
  }

  /**
   * Ends the login of a refresh token that was used twice: either the client or the token's thief did that. Two tabs of
   * a browser may exchange the same token, so the token that was exchanged last may come again for 10 seconds.
   */
  private async revoke({ sid, user_id, jti }: Claims): Promise<void> {
    const reused = { id: sid, accountId: user_id, refreshJti: Not(jti) };
    const since = new Date(this.clock.now().getTime() - REUSE_TOLERANCE);
    await this.rows.delete([
      { ...reused, previousJti: Not(jti) },
      { ...reused, lastUsedAt: LessThanOrEqual(since) },
    ]);
  }

  private async ownerOf({ user_id, sid }: Claims): Promise<Account> {
    const found = await this.sessions.find({ id: sid, accountId: user_id });
    if (!found) throw tokenNotValid();
    return found.account;
  }

  /** The condition of a valid login whose refresh token is neither used nor revoked. */
  private current({ sid, user_id, jti }: Claims) {
    return { id: sid, accountId: user_id, refreshJti: jti, ...this.sessions.valid() };
  }
}
