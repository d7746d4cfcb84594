import { Injectable } from '@nestjs/common';
import { AppError } from '../../platform/http/errors/errors.js';
import type { Account } from './account.entity.js';
import { NO_PASSWORD } from './passwords/passwords.js';

/** Counts the ways of one kind to log in to an account. */
type CountWays = (accountId: number) => Promise<number>;

/** The ways to log in to an account besides its password; each module registers its own kind. */
@Injectable()
export class LoginWays {
  private readonly kinds: CountWays[] = [];

  register(count: CountWays): void {
    this.kinds.push(count);
  }

  /**
   * Call it with the account locked, before one way is removed: of two concurrent removals, the second must see that
   * only one is left.
   *
   * @throws AppError `CONFLICT` when it is the last one
   */
  async requireAnother({ id, passwordHash }: Account): Promise<void> {
    if (passwordHash !== NO_PASSWORD) return;
    let ways = 0;
    for (const count of this.kinds) ways += await count(id);
    if (ways <= 1) throw new AppError('CONFLICT', LAST_WAY);
  }
}

export const LAST_WAY =
  'This is the only way to log in to your account; set a password first with POST /auth/password/reset/';
