import { Injectable } from '@nestjs/common';
import { Cookie } from '../../platform/http/cookie.js';
import { Config } from '../../platform/config/config.js';

/** The maximum that browsers keep a cookie. The database decides when a session expires. */
const MAX_AGE = 400 * 24 * 3600;

/** The cookie of a session. */
@Injectable()
export class SessionCookie extends Cookie {
  constructor(config: Config) {
    super('session', MAX_AGE, config);
  }
}
