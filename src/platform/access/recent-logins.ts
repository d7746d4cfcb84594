import { Injectable } from '@nestjs/common';
import { Clock } from '../jobs/clock.js';
import { AppError } from '../http/errors/errors.js';
import type { ClientInfo } from '../http/request-context.js';
import { OptionalField } from '../http/validation/fields.js';
import { Text } from '../http/validation/text.js';
import type { CallingAccount, Principal } from '../http/principal.js';

/** How long after its last check a login counts as recent, in milliseconds. */
const RECENT = 5 * 60_000;

const NOT_RECENT =
  'This call needs a login that is at most 5 minutes old: send your password with it, and a code if two-step login is on, or log in again';

/** Of a `GET`, which cannot carry a password. */
const NOT_RECENT_TO_READ = 'This call needs a login that is at most 5 minutes old: log in again';

export const TOO_MANY_FAILURES = 'Too many failed logins; retry later';
export const TOO_MANY_CODES = 'Too many wrong codes; use a recovery code or a passkey, or retry later';
export const WRONG_CODE = 'The code is wrong, has expired or has been used';

/** The input of a call that needs a recent login. */
export class RecentInput {
  /** Makes an older login recent. */
  @OptionalField()
  @Text()
  password?: string | null;

  /** A code of the authenticator app, or a recovery code: required beside the password while two-step login is on. */
  @OptionalField()
  @Text({ max: 100 })
  code?: string | null;
}

/** The errors of a checked code, for `@Throws()`. */
export const CODE_ERRORS = {
  INVALID_CODE: WRONG_CODE,
  RATE_LIMITED: [TOO_MANY_FAILURES, TOO_MANY_CODES],
};

/** The errors of {@link RecentLogins.require}, for `@Throws()`. */
export const RECENT_ERRORS = { FORBIDDEN: NOT_RECENT, ...CODE_ERRORS };

/** The errors of {@link RecentLogins.requireToRead}, for `@Throws()`. */
export const RECENT_TO_READ_ERRORS = { FORBIDDEN: NOT_RECENT_TO_READ };

/** How the ways to log in check a caller again. Their providers register them. */
interface Checks {
  /** @throws IncorrectPassword, which counts as a failed login; AppError `RATE_LIMITED`, `SERVICE_UNAVAILABLE` */
  readonly password: (account: CallingAccount, password: string, client: ClientInfo) => Promise<void>;
  /** Finds an account by its e-mail and password. @throws AppError `UNAUTHENTICATED`, `RATE_LIMITED`, `SERVICE_UNAVAILABLE` */
  readonly identify: (email: string, password: string, client: ClientInfo) => Promise<CallingAccount>;
  /** @throws AppError `INVALID_CODE`, which counts as a failed login; `RATE_LIMITED` */
  readonly code: (account: CallingAccount, code: string, client: ClientInfo) => Promise<void>;
  /** Records that a login has been checked again. */
  readonly confirm: (sid: string) => Promise<void>;
  /** Whether a login is still valid. */
  readonly isOpen: (sid: string) => Promise<boolean>;
}

/**
 * Whether callers have authenticated recently, which calls require that open another way into an account: a stolen
 * token must not be enough. It depends on no way to log in: those register their checks.
 */
@Injectable()
export class RecentLogins {
  private readonly checks: Partial<Checks> = {};

  constructor(private readonly clock: Clock) {}

  /** @throws Error if another module has registered one of the checks: it would replace it silently */
  register(checks: Partial<Checks>): void {
    for (const name of Object.keys(checks))
      if (name in this.checks) throw new Error(`Two modules register the check '${name}' of logins`);
    Object.assign(this.checks, checks);
  }

  /** Whether the login began, or its password or second factor was checked, at most 5 minutes ago. */
  isRecent({ authenticatedAt }: Principal): boolean {
    return authenticatedAt !== undefined && this.clock.now().getTime() - authenticatedAt.getTime() <= RECENT;
  }

  /** For a call that carries no password. @throws AppError `FORBIDDEN` without a recent login */
  requireToRead(caller: Principal): void {
    if (!this.isRecent(caller)) throw new AppError('FORBIDDEN', NOT_RECENT_TO_READ, { isDenial: false });
  }

  /**
   * @throws IncorrectPassword for a wrong password, which counts as a failed login
   * @throws AppError `FORBIDDEN` for an older login without a password, or without a code that is needed beside it, and for
   * every API key
   */
  async require(caller: Principal, { password, code }: RecentInput, client: ClientInfo): Promise<void> {
    await this.requirePassword(caller, password, client);
    if (password == null || !caller.account.hasSecondFactor) return;
    if (code != null) await this.checkCode(caller, code, client);
    else if (!this.isRecent(caller)) throw notRecent();
  }

  /** Like {@link require}, for a call that checks a code anyway, which must be checked only once. */
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
   * @throws IncorrectPassword; AppError `VALIDATION_ERROR` without a code that is needed
   */
  async authenticate(
    caller: Principal,
    { password, code }: { readonly password: string; readonly code?: string | null | undefined },
    client: ClientInfo,
  ): Promise<void> {
    requireCode(caller, code);
    await this.checkPassword(caller, password, client);
    await this.checkCodeIfOn(caller, code, client);
  }

  /** Checks the password of the caller, whose login is recent afterwards, unless a second factor is on. */
  async checkPassword(caller: Principal, password: string, client: ClientInfo): Promise<void> {
    await this.check('password')(caller.account, password, client);
    if (!caller.account.hasSecondFactor) await this.confirm(caller);
  }

  /** Checks the password of an account without a login. @throws IncorrectPassword */
  checkPasswordOf(account: CallingAccount, password: string, client: ClientInfo): Promise<void> {
    return this.check('password')(account, password, client);
  }

  /** Finds an account by its e-mail and password, which may not log in until its e-mail is verified. */
  identify(email: string, password: string, client: ClientInfo): Promise<CallingAccount> {
    return this.check('identify')(email, password, client);
  }

  /** Checks a code while a second factor is on. @throws AppError `VALIDATION_ERROR` without one */
  async checkCodeIfOn(caller: Principal, code: string | null | undefined, client: ClientInfo): Promise<void> {
    const needed = requireCode(caller, code);
    if (needed !== undefined) await this.checkCode(caller, needed, client);
  }

  private check<Name extends keyof Checks>(name: Name): Checks[Name] {
    const check = this.checks[name];
    if (!check) throw new Error(`No module has registered the check '${name}' of logins`);
    return check;
  }

  private async checkCode(caller: Principal, code: string, client: ClientInfo): Promise<void> {
    await this.check('code')(caller.account, code, client);
    await this.confirm(caller);
  }

  /** Makes the login of the caller a recent one, after its password or a code was checked. */
  async confirm({ sid }: Principal): Promise<void> {
    if (sid !== undefined) await this.check('confirm')(sid);
  }

  /**
   * Call it with the account locked, before the caller gets another way in: a reset of the password that has just ended
   * the login would not end that.
   */
  async isOpen({ sid }: Pick<Principal, 'sid'>): Promise<boolean> {
    return sid !== undefined && this.check('isOpen')(sid);
  }
}

/**
 * @returns the code, if a second factor is on
 * @throws AppError `VALIDATION_ERROR` if it is missing then
 */
function requireCode(
  { account: { hasSecondFactor } }: Principal,
  code: string | null | undefined,
): string | undefined {
  if (!hasSecondFactor) return undefined;
  if (code != null) return code;
  const message = 'code must be a string, because two-step login is on';
  throw new AppError('VALIDATION_ERROR', message, { details: [{ field: 'code', message }] });
}

const notRecent = (): AppError => new AppError('FORBIDDEN', NOT_RECENT, { isDenial: false });
