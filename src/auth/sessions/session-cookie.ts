import { Injectable } from '@nestjs/common';
import { Cookie } from '../../common/http/cookie.js';
import { Config } from '../../config/config.js';

/** The longest that browsers keep a cookie. The database says how long a session lasts. */
const MAX_AGE = 400 * 24 * 3600;

/** Holds the credential of a session. */
@Injectable()
export class SessionCookie extends Cookie {
  constructor(config: Config) {
    super('session', MAX_AGE, config);
  }
}
