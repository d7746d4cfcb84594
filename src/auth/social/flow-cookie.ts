import { Injectable } from '@nestjs/common';
import { Cookie } from '../../common/http/cookie.js';
import { Config } from '../../config/config.js';
import { LIFETIME } from './login-flows.js';

/** The cookie that binds a login at a provider to its browser. */
@Injectable()
export class FlowCookie extends Cookie {
  constructor(config: Config) {
    super('social-login', LIFETIME, config);
  }
}
