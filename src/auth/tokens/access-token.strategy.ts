import { Injectable } from '@nestjs/common';
import { Strategy, type VerifiedCallback } from 'passport-jwt';
import { Clock } from '../../common/clock/clock.js';
import { Config } from '../../config/config.js';
import { AccountsService } from '../accounts/accounts.service.js';
import type { Principal } from '../principal.js';
import { bearerToken } from './bearer.js';
import { isGood } from './claims.js';
import { VERIFY_OPTIONS } from './token-codec.js';

/** How passport knows an access token: its signature, its claims, and an account that is active right now. */
@Injectable()
export class AccessTokenStrategy extends Strategy {
  constructor({ jwtSecret }: Config, accounts: AccountsService, clock: Clock) {
    const verify = async (payload: unknown, done: VerifiedCallback): Promise<void> => {
      try {
        const isAccess = isGood(payload, clock.now()) && payload.token_type === 'access';
        const account = isAccess ? await accounts.findOne(payload.user_id) : undefined;
        if (!isAccess || !account?.isActive) done(null, false);
        else done(null, { account, sid: payload.sid, kind: 'token' } satisfies Principal);
      } catch (error) {
        done(error);
      }
    };
    super({ ...VERIFY_OPTIONS, secretOrKey: jwtSecret, jwtFromRequest: bearerToken }, (payload, done) => {
      void verify(payload, done);
    });
  }
}
