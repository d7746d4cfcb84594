import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { clientOf } from '../../platform/http/client.js';
import { Credential, type LoginInfo, RequestStrategy } from '../../platform/access/index.js';
import type { Account } from '../../accounts/account.entity.js';
import { Csrf } from './csrf.js';
import { SessionCookie } from './session-cookie.js';
import { SessionsService } from './sessions.service.js';

/** Authenticates by the session cookie. */
@Injectable()
@Credential()
export class SessionStrategy extends PassportStrategy(RequestStrategy, 'session-cookie') {
  constructor(
    private readonly cookie: SessionCookie,
    private readonly sessions: SessionsService,
    private readonly csrf: Csrf,
  ) {
    super();
  }

  /** @throws AppError `CSRF_FAILED` for an unsafe call without the CSRF token */
  async validate(request: FastifyRequest): Promise<[Account, LoginInfo] | null> {
    const credential = this.cookie.read(request);
    if (credential === undefined) return null;
    const found = await this.sessions.find(credential, clientOf(request));
    if (found) this.csrf.check(request, found[1].sid, found[0].id);
    return found;
  }
}
