import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../../platform/jobs/clock.js';
import { AppError } from '../../platform/http/errors/errors.js';
import type { ClientInfo } from '../../platform/http/client.js';
import { checkInput } from '../../platform/http/validation/input.pipe.js';
import { isForeignKeyViolation } from '../../platform/database/failures.js';
import { Transactions } from '../../platform/database/transactions.js';
import { tokenNotValid } from '../../platform/access/index.js';
import { type Account, AccountsService, badCredentials, Credentials, LoginInput } from '../accounts/index.js';
import { LoginChallenge, SecondFactors, wrongLoginCode } from '../second-factors/index.js';
import { SecondStepInput } from './factor.input.js';

/** How long a login waits for its code, in seconds. */
const LIFETIME = 300;

export const WRONG_VERIFIER = 'The code_verifier is wrong or missing';

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

/** The steps of a login: a password or a provider first, then a code if the account has a second factor. */
@Injectable()
export class LoginSteps {
  constructor(
    @InjectRepository(LoginChallenge) private readonly challenges: Repository<LoginChallenge>,
    private readonly credentials: Credentials,
    private readonly accounts: AccountsService,
    private readonly factors: SecondFactors,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes the first step with an e-mail and a password, or the second with an `mfa_token` and a code.
   *
   * @param body of the request
   * @returns the account, once the login is complete
   * @throws AppError as {@link Credentials.check}; `TOKEN_NOT_VALID` for an `mfa_token` that is used, expired or void,
   * `UNAUTHENTICATED` for a wrong code, `INVALID_CODE` for a wrong or missing `code_verifier`
   */
  async take(body: unknown, client: ClientInfo): Promise<Account | SecondStepRequired> {
    if (isSecondStep(body)) return this.complete(await checkInput(SecondStepInput, body), client);
    const { email, password } = await checkInput(LoginInput, body);
    return this.after(await this.credentials.check(email, password, client));
  }

  /**
   * The next step of a login whose first step has succeeded.
   *
   * @param codeChallenge of the client that alone may take it (S256, RFC 7636)
   */
  async after(account: Account, codeChallenge?: string): Promise<Account | SecondStepRequired> {
    if (!account.hasSecondFactor) return account;
    const token = randomBytes(32).toString('base64url');
    const challenge = {
      id: hash(token),
      accountId: account.id,
      passwordChangedAt: account.passwordChangedAt,
      codeChallenge: codeChallenge ?? null,
      attempts: 0,
      expiresAt: new Date(this.clock.now().getTime() + LIFETIME * 1000),
    };
    try {
      await this.challenges.insert(challenge);
    } catch (error) {
      // The account was deleted concurrently.
      if (!isForeignKeyViolation(error)) throw error;
      throw badCredentials();
    }
    return new SecondStepRequired(token);
  }

  private async complete(
    { mfa_token, code, code_verifier }: SecondStepInput,
    client: ClientInfo,
  ): Promise<Account> {
    const id = hash(mfa_token);
    // Before the attempt is counted: whoever has read the token from a redirect must not be able to void it.
    const expected = (await this.challenges.findOneBy({ id }))?.codeChallenge ?? undefined;
    if (expected !== undefined && expected !== hash(code_verifier ?? ''))
      throw new AppError('INVALID_CODE', WRONG_VERIFIER);
    const challenged = await this.ownerOf(id);
    const attempt = this.factors.verify(challenged, code, client, {
      isLogin: true,
      wrong: wrongLoginCode,
      work: async (current) => {
        // A change of the password voids the token, also a concurrent one.
        if (current.passwordChangedAt.getTime() !== challenged.passwordChangedAt.getTime())
          throw tokenNotValid();
        const { affected } = await this.challenges.delete({ id });
        if (affected !== 1) throw tokenNotValid();
        return current;
      },
    });
    return attempt.catch(async (error: unknown) => {
      // The code was not looked at: a recovery code may follow.
      const isLimited = error instanceof AppError && error.code === 'RATE_LIMITED';
      if (isLimited) await this.challenges.decrement({ id }, 'attempts', 1);
      throw error;
    });
  }

  /**
   * The account of a login, which has one attempt less afterwards, before the code is compared: concurrent attempts
   * cannot exceed the limit.
   */
  private async ownerOf(id: string): Promise<Account> {
    // SQL, because TypeORM has no `UPDATE … RETURNING` on SQLite.
    const [challenge] = await this.transactions.execute<{ accountId: number; passwordChangedAt: string }>(
      `UPDATE login_challenges SET attempts = attempts + 1
         WHERE id = :id AND expires_at > :now AND attempts < ${MAX_ATTEMPTS}
         RETURNING account_id AS "accountId", password_changed_at AS "passwordChangedAt"`,
      { id, now: this.clock.now().toISOString() },
    );
    const account = challenge && (await this.accounts.findOne(challenge.accountId));
    const isSame = account?.passwordChangedAt.getTime() === Date.parse(challenge?.passwordChangedAt ?? '');
    if (!account?.isActive || !isSame) throw tokenNotValid();
    return account;
  }
}

const isSecondStep = (body: unknown): boolean =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, 'mfa_token');

const hash = (token: string): string => createHash('sha256').update(token).digest('base64url');
