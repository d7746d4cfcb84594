import { applyDecorators, Injectable, UseFilters } from '@nestjs/common';
import { Clock } from '../../common/ports/clock.js';
import { AppError } from '../../common/errors/errors.js';
import type { ClientInfo } from '../../common/http/client.js';
import { ThrowsOther } from '../../common/openapi/returns.js';
import { Optional } from '../../common/validation/fields.js';
import { Text } from '../../common/validation/text.js';
import type { Principal } from '../access/index.js';
import { Credentials, INCORRECT_PASSWORD, IncorrectPasswordFilter } from '../accounts/index.js';
import { Logins } from './logins.js';

/** How long after its last check a login counts as recent, in milliseconds. */
const RECENT = 5 * 60_000;

export const NOT_RECENT =
  'This call needs a login that is at most 5 minutes old: send your password with it, or log in again';

/** Of a `GET`, which cannot carry a password. */
export const NOT_RECENT_TO_READ = 'This call needs a login that is at most 5 minutes old: log in again';

/** The input of a call that needs a recent login. */
export class RecentInput {
  /** Makes an older login recent. */
  @Optional()
  @Text()
  password?: string | null;
}

/** For handlers that check the password of a logged-in account again. */
export const ChecksPassword = (): MethodDecorator =>
  applyDecorators(
    UseFilters(IncorrectPasswordFilter),
    ThrowsOther(400, 'IncorrectPassword', INCORRECT_PASSWORD),
  );

/**
 * Whether callers have authenticated recently, which calls require that open another way into an account: a stolen
 * token alone must not be enough.
 */
@Injectable()
export class RecentLogins {
  constructor(
    private readonly credentials: Credentials,
    private readonly logins: Logins,
    private readonly clock: Clock,
  ) {}

  /** Whether the login began, or its password or second factor was checked, at most 5 minutes ago. */
  isRecent({ authenticatedAt }: Principal): boolean {
    return authenticatedAt !== undefined && this.clock.now().getTime() - authenticatedAt.getTime() <= RECENT;
  }

  /**
   * @throws IncorrectPassword for a wrong password, which counts as a failed login
   * @throws AppError `FORBIDDEN` for an older login without a password, and for every API key
   */
  async require(caller: Principal, { password }: RecentInput, client: ClientInfo): Promise<void> {
    if (caller.sid !== undefined && password != null) await this.checkPassword(caller, password, client);
    else if (!this.isRecent(caller)) throw new AppError('FORBIDDEN', NOT_RECENT);
  }

  /**
   * Checks the password of the caller, whose login is recent afterwards.
   *
   * @throws IncorrectPassword; AppError `RATE_LIMITED`, `SERVICE_UNAVAILABLE`
   */
  async checkPassword({ account, sid }: Principal, password: string, client: ClientInfo): Promise<void> {
    await this.credentials.confirm(account, password, client);
    if (sid !== undefined) await this.logins.confirm(sid);
  }
}
