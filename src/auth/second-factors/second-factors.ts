import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Secret, TOTP } from 'otpauth';
import { IsNull, LessThan, MoreThan, Not, Repository } from 'typeorm';
import { Clock } from '../../platform/jobs/clock.js';
import { AppError } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import type { ClientInfo } from '../../platform/http/client.js';
import { Transactions } from '../../platform/database/transactions.js';
import { Encryption } from '../../platform/encryption/index.js';
import { AccountMails } from '../account-mails/index.js';
import {
  type Account,
  accountDeleted,
  AccountsService,
  badCredentials,
  LoginThrottle,
} from '../accounts/index.js';
import { RecoveryCode } from './recovery-code.entity.js';
import { TotpFactor } from './totp-factor.entity.js';

/** How many steps a clock may be slow or fast. */
const WINDOW = 1;

/** In seconds (RFC 6238, section 5.2). */
const PERIOD = 30;

/** In bytes (RFC 4226, section 4). */
const SECRET_BYTES = 20;

/** How long a secret may wait for its first code, in milliseconds. */
const PENDING = 10 * 60_000;

const RECOVERY_CODES = 10;

/** 120 random bits, which need no slow hash (NIST SP 800-63B, section 5.1.2: at least 112). */
const RECOVERY_BYTES = 15;

const TOTP_CODE = /^\d{6}$/;

/** After so many wrong codes of the app, the owner gets a notice: whoever enters them has the password. */
const NOTICE_AFTER = 5;

export const WRONG_CODE = 'The code is wrong, has expired or has been used';

/** The purpose of the encryption of {@link TotpFactor.secret}. */
const PURPOSE = 'totp_factors.secret';

/** An authenticator app of an account (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds), and its recovery codes. */
@Injectable()
export class SecondFactors {
  constructor(
    @InjectRepository(TotpFactor) private readonly factors: Repository<TotpFactor>,
    @InjectRepository(RecoveryCode) private readonly codes: Repository<RecoveryCode>,
    private readonly accounts: AccountsService,
    private readonly throttle: LoginThrottle,
    private readonly mails: AccountMails,
    private readonly encryption: Encryption,
    private readonly transactions: Transactions,
    private readonly security: SecurityEvents,
    private readonly clock: Clock,
  ) {
    accounts.onVerified(async (accountId) => {
      await this.factors.update({ accountId }, { addedUnverified: true });
    });
  }

  async recoveryCodesLeft(accountId: number): Promise<number> {
    return this.codes.countBy({ accountId });
  }

  /**
   * Stores a new secret, which replaces one that is not confirmed.
   *
   * @returns the secret, in Base32, and its address for authenticator apps
   */
  async create({ id: accountId, email }: Account): Promise<{ secret: string; uri: string }> {
    const secret = new Secret({ size: SECRET_BYTES });
    await this.factors.delete({ accountId, confirmedAt: IsNull() });
    await this.factors.insert({
      accountId,
      secret: this.encryption.encrypt(secret.base32, PURPOSE),
      lastStep: 0,
      confirmedAt: null,
      createdAt: this.clock.now(),
    });
    const totp = new TOTP({ issuer: 'Posts API', label: email, secret, period: PERIOD });
    return { secret: secret.base32, uri: totp.toString() };
  }

  /**
   * Checks a code with the account locked, then runs further work in the same transaction. Wrong codes count as failed
   * logins. Six digits are a code of the app, whose wrong ones also count for the account, from any address; anything else
   * is a recovery code.
   *
   * @param pending whether the code must be of a factor that is not confirmed yet; else it may be a recovery code
   * @param isLogin whether the code completes a login
   * @throws AppError `wrong` for a wrong or used code, `RATE_LIMITED` after too many failures
   */
  async verify<T>(
    { id, email, emailKey }: Account,
    code: string,
    { address }: ClientInfo,
    {
      pending = false,
      recovery = true,
      isLogin = false,
      wrong,
      work,
    }: {
      readonly pending?: boolean;
      readonly recovery?: boolean;
      readonly isLogin?: boolean;
      readonly wrong: () => AppError;
      readonly work: (account: Account) => Promise<T>;
    },
  ): Promise<T> {
    const token = code.replaceAll(' ', '');
    const isCode = TOTP_CODE.test(token);
    const attempt = { emailKey, accountId: id, address, isCode };
    await this.throttle.assertNotBlocked(attempt);
    // Before the outcome is known, so that concurrent attempts cannot exceed the limit.
    const counted = await this.throttle.count(attempt);
    const result = await this.transactions.run(async () => {
      const account = await this.accounts.lock(id);
      if (!account?.isActive || account.email !== email) throw accountDeleted();
      const isRight = isCode
        ? await this.acceptTotp(id, token, pending)
        : recovery && !pending && account.hasSecondFactor && (await this.acceptRecovery(id, code));
      if (isRight) return { value: await work(account) };
      if (counted.codes === NOTICE_AFTER) await this.mails.notify(account, 'codes-wrong');
      return undefined;
    });
    if (!result) {
      this.security.record('code_failed', { accountId: id });
      throw wrong();
    }
    await this.throttle.succeed(counted, { isComplete: isLogin });
    return result.value;
  }

  /** Turns the factor on. @returns the first recovery codes */
  async confirm({ id: accountId }: Account): Promise<string[]> {
    await this.factors.update({ accountId }, { confirmedAt: this.clock.now() });
    await this.accounts.setSecondFactor(accountId, true);
    return this.renewRecoveryCodes(accountId);
  }

  /** Replaces the recovery codes, of which only hashes are stored. */
  async renewRecoveryCodes(accountId: number): Promise<string[]> {
    const texts = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    await this.codes.delete({ accountId });
    await this.codes.insert(texts.map((text) => ({ id: hash(accountId, text), accountId })));
    return texts;
  }

  /** Turns the factor off, and deletes its recovery codes. */
  async remove(accountId: number): Promise<void> {
    await this.factors.delete({ accountId });
    await this.codes.delete({ accountId });
    await this.accounts.setSecondFactor(accountId, false);
  }

  /** Removes a factor whose secret was created before the e-mail was verified. @returns whether it was on */
  async removeUnverified({ id: accountId, hasSecondFactor }: Account): Promise<boolean> {
    if (!(await this.factors.existsBy({ accountId, addedUnverified: true }))) return false;
    await this.remove(accountId);
    return hasSecondFactor;
  }

  /** Accepts each code once, and afterwards none of earlier steps. */
  private async acceptTotp(accountId: number, token: string, pending: boolean): Promise<boolean> {
    const now = this.clock.now();
    const state = pending
      ? { confirmedAt: IsNull(), createdAt: MoreThan(new Date(now.getTime() - PENDING)) }
      : { confirmedAt: Not(IsNull()) };
    const factor = await this.factors.findOneBy({ accountId, ...state });
    if (!factor) return false;
    const totp = new TOTP({ secret: this.encryption.decrypt(factor.secret, PURPOSE), period: PERIOD });
    const timestamp = now.getTime();
    // The library compares in constant time.
    const delta = totp.validate({ token, timestamp, window: WINDOW });
    if (delta === null) return false;
    const lastStep = totp.counter({ timestamp }) + delta;
    const { affected } = await this.factors.update({ accountId, lastStep: LessThan(lastStep) }, { lastStep });
    return affected === 1;
  }

  private async acceptRecovery(accountId: number, code: string): Promise<boolean> {
    const { affected } = await this.codes.delete({ id: hash(accountId, code), accountId });
    return affected === 1;
  }
}

/** For a wrong code of a call that is not a login. */
export const wrongCode = (): AppError => new AppError('INVALID_CODE', WRONG_CODE);

/** For a wrong code of a login. */
export const wrongLoginCode = (): AppError => new AppError(badCredentials().code, WRONG_CODE);

/** Six groups of four letters and digits, in Base32. */
function newRecoveryCode(): string {
  const { base32 } = new Secret({ buffer: new Uint8Array(randomBytes(RECOVERY_BYTES)).buffer });
  return base32.toLowerCase().match(/.{4}/g)!.join('-');
}

/** Letter case, hyphens and spaces do not matter. */
const hash = (accountId: number, code: string): string =>
  createHash('sha256')
    .update(`${accountId} ${code.toLowerCase().replaceAll(/[\s-]/g, '')}`)
    .digest('base64url');
