import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { tokenNotValid } from '../../platform/access/index.js';
import { isForeignKeyViolation } from '../../platform/database/failures.js';
import type { ClientInfo } from '../../platform/http/request-context.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { checkInput } from '../../platform/http/validation/input.pipe.js';
import { type Account } from '../account.entity.js';
import { AccountsService } from '../accounts.service.js';
import { Config } from '../../platform/config/config.js';
import { badCredentials, emailNotVerified, WRONG_VERIFIER } from '../login.errors.js';
import { Authenticated } from '../sessions.service.js';
import { PasswordLogins } from '../password/password-logins.js';
import { LoginInput } from '../account.input.js';
import { OneTimeSecrets } from '../one-time-secrets.js';
import { CodeChecks } from '../totp/code-checks.js';
import { SecondStepInput } from '../totp/totp.input.js';

/** How long a login waits for its code, in seconds. */
const LIFETIME = 300;

const PURPOSE = 'second-step';

/** The number of codes that may be tried. */
const MAX_ATTEMPTS = 5;

/** The result of a first step, if the account has a second factor. */
@ApiSchema({ name: 'SecondStepRequired' })
export class SecondStepRequired {
  @ApiProperty({ description: 'Send it with a `code` to complete the login; void after 5 wrong codes.' })
  readonly mfa_token!: string;

  @ApiProperty({ type: 'integer', description: 'In seconds.', example: LIFETIME })
  readonly expires_in!: number;

  constructor(mfaToken: string) {
    this.mfa_token = mfaToken;
    this.expires_in = LIFETIME;
  }
}

interface FirstStep {
  /** Of the only client that may take the second step (S256, RFC 7636). */
  readonly codeChallenge?: string | undefined;
  /** Whether the way has a rule of its own for accounts whose e-mail is not verified. */
  readonly acceptsUnverified?: boolean;
}

/** Opens a session of an account, by tokens or by a cookie. */
type Open<T> = (authenticated: Authenticated) => Promise<T>;

/**
 * The steps of a login: a password or a provider first, then a code if the account has a second factor. The second step
 * is several statements that each commit on their own, so that a wrong code costs an attempt whatever fails later:
 *
 * | Statement                                    | Otherwise                                                             |
 * | -------------------------------------------- | --------------------------------------------------------------------- |
 * | one attempt of the `mfa_token` is reserved   | 401: the token is unknown, used, expired, or has had five attempts    |
 * | the attempt counts as a failed login         | 429, and the attempt of the token is given back                       |
 * | code and token are used, and the login       | 401: the attempts stay counted; the account's fifth wrong code in an  |
 * | begins, in one transaction                   | hour, of this or another token, sends a notice. 5xx: both attempts    |
 * |                                              | are given back                                                        |
 * | the count of failed logins is reset          |                                                                       |
 */
@Injectable()
export class LoginSteps {
  constructor(
    private readonly secrets: OneTimeSecrets,
    private readonly passwords: PasswordLogins,
    private readonly accounts: AccountsService,
    private readonly checks: CodeChecks,
    private readonly config: Config,
  ) {}

  /**
   * Takes the first step with an e-mail and a password, or the second with an `mfa_token` and a code.
   *
   * @param body of the request
   * @param open runs after the last step, in the transaction that uses the code
   */
  async take<T>(body: unknown, client: ClientInfo, open: Open<T>): Promise<T | SecondStepRequired> {
    if (has(body, 'mfa_token')) return this.complete(await checkInput(SecondStepInput, body), client, open);
    const { email, password } = await checkInput(LoginInput, body);
    const result = await this.after(await this.passwords.authenticate(email, password, client));
    return result instanceof SecondStepRequired ? result : open(result);
  }

  /**
   * The next step of a login whose first step has succeeded.
   *
   * @throws AppError `FORBIDDEN` if the e-mail must be verified before
   */
  async after(
    account: Account,
    { codeChallenge, acceptsUnverified = false }: FirstStep = {},
  ): Promise<Authenticated | SecondStepRequired> {
    if (!acceptsUnverified) this.requireVerified(account);
    if (!account.hasSecondFactor) return new Authenticated(account);
    const { id: accountId, passwordChangedAt } = account;
    const secret = {
      purpose: PURPOSE,
      accountId,
      passwordChangedAt,
      codeChallenge: codeChallenge ?? null,
    } as const;
    try {
      return new SecondStepRequired(await this.secrets.issue(secret, LIFETIME * 1000));
    } catch (error) {
      // The account was deleted concurrently.
      if (!isForeignKeyViolation(error)) throw error;
      throw badCredentials();
    }
  }

  /** Like {@link after}, for a way that is a second factor itself. */
  afterBothFactors(account: Account): Authenticated {
    this.requireVerified(account);
    return new Authenticated(account);
  }

  private requireVerified({ isEmailVerified }: Account): void {
    if (this.config.requireVerifiedEmail && !isEmailVerified) throw emailNotVerified();
  }

  private async complete<T>(
    { mfa_token: token, code, code_verifier }: SecondStepInput,
    client: ClientInfo,
    open: Open<T>,
  ): Promise<T> {
    // Before the attempt is counted: whoever has read the token from a redirect must not be able to void it.
    const codeChallenge = (await this.secrets.find(PURPOSE, token))?.codeChallenge ?? null;
    if (codeChallenge !== null && codeChallenge !== challengeOf(code_verifier ?? ''))
      throw new AppError('INVALID_CODE', WRONG_VERIFIER);
    const challenged = await this.reserveAttempt(token);
    const checked = this.checks.check(challenged, code, client, {
      isLogin: true,
      work: async (current) => {
        // A change of the password voids the token, also a concurrent one.
        if (current.passwordChangedAt.getTime() !== challenged.passwordChangedAt.getTime())
          throw tokenNotValid();
        if (!(await this.secrets.use(PURPOSE, token, codeChallenge))) throw tokenNotValid();
        return open(new Authenticated(current));
      },
    });
    return checked.catch(async (error: unknown) => {
      const isWrong = error instanceof AppError && error.code === 'UNAUTHENTICATED';
      // The code was not looked at: a recovery code may follow, or the same one after an outage.
      if (!isWrong) await this.secrets.revertAttempt(PURPOSE, token).catch(() => undefined);
      throw error;
    });
  }

  /** The account of a login, which has one attempt less afterwards, before the code is compared. */
  private async reserveAttempt(token: string): Promise<Account> {
    const secret = await this.secrets.reserveAttempt(PURPOSE, token, MAX_ATTEMPTS);
    const account = secret && (await this.accounts.find(secret.accountId));
    const isSame = account?.passwordChangedAt.getTime() === Date.parse(secret?.passwordChangedAt ?? '');
    if (!account?.isActive || !isSame) throw tokenNotValid();
    return account;
  }
}

/** The `code_challenge` of a `code_verifier` (S256, RFC 7636). */
export const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url');

/** Whether a body that is not checked yet has a field. */
export const has = (body: unknown, field: string): boolean =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, field);
