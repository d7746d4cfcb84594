import { applyDecorators, Injectable, UseFilters } from '@nestjs/common';
import { Clock } from '../../platform/jobs/clock.js';
import { AppError } from '../../platform/http/errors/errors.js';
import type { ClientInfo } from '../../platform/http/client.js';
import { ThrowsOther } from '../../platform/http/openapi/returns.js';
import { Optional } from '../../platform/http/validation/fields.js';
import { Text } from '../../platform/http/validation/text.js';
import type { Principal } from '../../platform/access/index.js';
import {
  type Account,
  Credentials,
  INCORRECT_PASSWORD,
  IncorrectPasswordFilter,
  TOO_MANY_CODES,
  TOO_MANY_FAILURES,
} from '../accounts/index.js';
import { SecondFactors, WRONG_CODE, wrongCode } from '../second-factors/index.js';
import { Logins } from './logins.js';

/** How long after its last check a login counts as recent, in milliseconds. */
const RECENT = 5 * 60_000;

const NOT_RECENT =
  'This call needs a login that is at most 5 minutes old: send your password with it, and a code if two-step login is on, or log in again';

/** Of a `GET`, which cannot carry a password. */
export const NOT_RECENT_TO_READ = 'This call needs a login that is at most 5 minutes old: log in again';

/** The input of a call that needs a recent login. */
export class RecentInput {
  /** Makes an older login recent. */
  @Optional()
  @Text()
  password?: string | null;

  /** A code of the authenticator app, or a recovery code: required beside the password while two-step login is on. */
  @Optional()
  @Text({ max: 100 })
  code?: string | null;
}

/** The errors of {@link RecentLogins.require}, for `@Throws()`. */
export const RECENT_ERRORS = {
  FORBIDDEN: NOT_RECENT,
  INVALID_CODE: WRONG_CODE,
  RATE_LIMITED: [TOO_MANY_FAILURES, TOO_MANY_CODES],
};

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
    private readonly factors: SecondFactors,
    private readonly logins: Logins,
    private readonly clock: Clock,
  ) {}

  /** Whether the login began, or its password or second factor was checked, at most 5 minutes ago. */
  isRecent({ authenticatedAt }: Principal): boolean {
    return authenticatedAt !== undefined && this.clock.now().getTime() - authenticatedAt.getTime() <= RECENT;
  }

  /**
   * @throws IncorrectPassword for a wrong password, which counts as a failed login
   * @throws AppError `FORBIDDEN` for an older login without a password, or without a code that is needed beside it, and for
   * every API key; `INVALID_CODE` for a wrong code
   */
  async require(caller: Principal, { password, code }: RecentInput, client: ClientInfo): Promise<void> {
    await this.requirePassword(caller, password, client);
    if (password == null || !caller.account.hasSecondFactor) return;
    if (code != null) await this.checkCode(caller, code, client);
    else if (!this.isRecent(caller)) throw notRecent();
  }

  /**
   * Like {@link require}, for a call that checks a code anyway, which must be checked only once.
   *
   * @throws IncorrectPassword; AppError `FORBIDDEN`
   */
  async requirePassword(
    caller: Principal,
    password: string | null | undefined,
    client: ClientInfo,
  ): Promise<void> {
    if (caller.sid !== undefined && password != null) await this.checkPassword(caller, password, client);
    else if (!this.isRecent(caller)) throw notRecent();
  }

  /**
   * Checks the password of the caller, and a code while a second factor is on.
   *
   * @throws IncorrectPassword
   * @throws AppError `VALIDATION_ERROR` without a code that is needed, `INVALID_CODE` for a wrong one, `RATE_LIMITED`,
   * `SERVICE_UNAVAILABLE`
   */
  async authenticate(
    caller: Principal,
    { password, code }: { readonly password: string; readonly code?: string | null | undefined },
    client: ClientInfo,
  ): Promise<void> {
    const needed = requireCode(caller.account, code);
    await this.checkPassword(caller, password, client);
    if (needed !== undefined) await this.checkCode(caller, needed, client);
  }

  /**
   * Checks the password of the caller, whose login is recent afterwards, unless a second factor is on.
   *
   * @throws IncorrectPassword; AppError `RATE_LIMITED`, `SERVICE_UNAVAILABLE`
   */
  async checkPassword({ account, sid }: Principal, password: string, client: ClientInfo): Promise<void> {
    await this.credentials.confirm(account, password, client);
    if (sid !== undefined && !account.hasSecondFactor) await this.logins.confirm(sid);
  }

  /**
   * Checks a code of the caller, after the password; the login is recent afterwards.
   *
   * @throws AppError `INVALID_CODE`, `RATE_LIMITED`
   */
  async checkCode({ account, sid }: Principal, code: string, client: ClientInfo): Promise<void> {
    await this.factors.verify(account, code, client, { wrong: wrongCode, work: async () => undefined });
    if (sid !== undefined) await this.logins.confirm(sid);
  }
}

/**
 * @returns the code, if a second factor is on
 * @throws AppError `VALIDATION_ERROR` if it is missing then
 */
export function requireCode(
  { hasSecondFactor }: Account,
  code: string | null | undefined,
): string | undefined {
  if (!hasSecondFactor) return undefined;
  if (code != null) return code;
  const message = 'code must be a string, because two-step login is on';
  throw new AppError('VALIDATION_ERROR', message, { details: [{ field: 'code', message }] });
}

const notRecent = (): AppError => new AppError('FORBIDDEN', NOT_RECENT, { isDenial: false });
