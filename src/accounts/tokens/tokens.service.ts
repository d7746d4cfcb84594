import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { LoginSteps, type SecondStepRequired } from '../login/login-steps.js';
import { type Authenticated, SessionsService } from '../sessions.service.js';
import { TokenCodec } from './token-codec.js';

export class TokenPair {
  @ApiProperty({ description: 'Valid for 30 minutes.' })
  readonly access!: string;

  @ApiProperty({ description: 'Can be exchanged once, within 7 days.' })
  readonly refresh!: string;
}

/** Logins that return bearer tokens. */
@Injectable()
export class TokensService {
  constructor(
    private readonly steps: LoginSteps,
    private readonly codec: TokenCodec,
    private readonly sessions: SessionsService,
  ) {}

  /** @param body of either step of a login */
  login(body: unknown, client: ClientInfo): Promise<TokenPair | SecondStepRequired> {
    return this.steps.take(body, client, (authenticated) => this.open(authenticated, client));
  }

  /** Opens a login, and returns its first tokens. */
  async open(authenticated: Authenticated, client: ClientInfo): Promise<TokenPair> {
    const { account } = authenticated;
    const sid = randomUUID();
    const refresh = this.codec.refresh(account, sid);
    const { jti: refreshJti, expiresAt } = refresh;
    const login = { id: sid, kind: 'token', refreshJti, expiresAt } as const;
    await this.sessions.open(authenticated, login, client);
    return { access: this.codec.access(account, sid), refresh: refresh.token };
  }
}
