import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { Config } from '../../platform/config/config.js';

import { Cookie } from '../../platform/http/cookie.js';
import { Credential, type SessionInfo, RequestStrategy } from '../../platform/access/index.js';
import type { Account } from '../account.entity.js';
import { Csrf } from './csrf.js';
import { CookiesService } from './cookies.service.js';

/** The maximum that browsers keep a cookie. The database decides when a session expires. */
const MAX_AGE = 400 * 24 * 3600;

/** The cookie of a session. */
@Injectable()
export class SessionCookie extends Cookie {
  constructor(config: Config) {
    super('session', MAX_AGE, config);
  }
}

/** Authenticates by the session cookie. */
@Injectable()
@Credential()
export class CookieStrategy extends PassportStrategy(RequestStrategy, 'service-session') {
  constructor(
    private readonly cookie: SessionCookie,
    private readonly cookies: CookiesService,
    private readonly csrf: Csrf,
  ) {
    super();
  }

  async validate(request: FastifyRequest): Promise<[Account, SessionInfo] | null> {
    const credential = this.cookie.read(request);
    if (credential === undefined) return null;
    const found = await this.cookies.find(credential, request.context.client);
    if (found) this.csrf.check(request, found[1].sid, found[0].id);
    return found;
  }
}
