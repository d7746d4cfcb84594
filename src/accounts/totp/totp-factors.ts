import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Secret, TOTP } from 'otpauth';
import { type FindOptionsWhere, IsNull, LessThan, MoreThan, Not, Repository } from 'typeorm';
import { SERVICE } from '../../platform/config/package.js';
import { EncryptedColumns, Encryption } from '../../platform/encryption/index.js';
import { Clock } from '../../platform/jobs/clock.js';
import { type Account } from '../account.entity.js';
import { AccountsService } from '../accounts.service.js';
import { OneTimeSecrets } from '../one-time-secrets.js';
import { TotpFactor } from './totp-factor.entity.js';

/** How many steps a clock may be slow or fast. */
const WINDOW = 1;

/** In seconds (RFC 6238, section 5.2). */
const PERIOD = 30;

/** In bytes (RFC 4226, section 4). */
const SECRET_BYTES = 20;

/** How long a secret may wait for its first code, in milliseconds. */
const PENDING = 10 * 60_000;

/** Of a secret that waits for its first code. */
const MAX_WRONG_CODES = 5;

const RECOVERY_CODES = 10;

/** 120 random bits, which need no slow hash (NIST SP 800-63B, section 5.1.2: at least 112). */
const RECOVERY_BYTES = 15;

/** The purpose of the encryption of {@link TotpFactor.secret}. */
const PURPOSE = 'totp_factors.secret';

/** The authenticator apps of accounts (TOTP, RFC 6238: SHA-1, 6 digits, 30 seconds), and their recovery codes. */
@Injectable()
export class TotpFactors {
  constructor(
    @InjectRepository(TotpFactor) private readonly factors: Repository<TotpFactor>,
    private readonly secrets: OneTimeSecrets,
    private readonly accounts: AccountsService,
    private readonly encryption: Encryption,
    private readonly columns: EncryptedColumns,
    private readonly clock: Clock,
  ) {
    columns.register('totp_factors', 'secret', 'account_id');
  }

  recoveryCodesLeft(accountId: number): Promise<number> {
    return this.secrets.count('recovery-code', accountId);
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
    const totp = new TOTP({ issuer: SERVICE.title, label: email, secret, period: PERIOD });
    return { secret: secret.base32, uri: totp.toString() };
  }

  /** Turns the factor on. @returns the first recovery codes */
  async confirm({ id: accountId }: Account): Promise<string[]> {
    await this.factors.update({ accountId }, { confirmedAt: this.clock.now() });
    await this.accounts.setSecondFactor(accountId, true);
    return this.renewRecoveryCodes(accountId);
  }

  /** Replaces the recovery codes, of which only hashes are stored. */
  async renewRecoveryCodes(accountId: number): Promise<string[]> {
    const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode);
    await this.secrets.end(accountId, 'recovery-code');
    await this.secrets.store(
      { purpose: 'recovery-code', accountId },
      codes.map((code) => recoverySecret(accountId, code)),
    );
    return codes;
  }

  /** Turns the factor off, and deletes its recovery codes. */
  async remove(accountId: number): Promise<void> {
    await this.factors.delete({ accountId });
    await this.secrets.end(accountId, 'recovery-code');
    await this.accounts.setSecondFactor(accountId, false);
  }

  /** Marks what was added until the owner is confirmed. */
  async markUnconfirmed({ id: accountId }: Pick<Account, 'id'>): Promise<void> {
    await this.factors.update({ accountId }, { addedUnconfirmed: true });
  }

  /** Whether the secret was created before the owner was confirmed. */
  hasUnconfirmed({ id: accountId }: Pick<Account, 'id'>): Promise<boolean> {
    return this.factors.existsBy({ accountId, addedUnconfirmed: true });
  }

  /** Accepts each code of the app once, and afterwards none of earlier steps. */
  async acceptTotp(accountId: number, code: string): Promise<boolean> {
    const lastStep = await this.stepOf(code, { accountId, confirmedAt: Not(IsNull()) });
    if (lastStep === undefined) return false;
    const { affected } = await this.factors.update({ accountId, lastStep: LessThan(lastStep) }, { lastStep });
    return affected === 1;
  }

  /** Accepts the first code of a secret that waits for it; after five wrong ones, or ten minutes, the secret is void. */
  async acceptFirst(accountId: number, code: string): Promise<boolean> {
    const waiting = {
      accountId,
      confirmedAt: IsNull(),
      createdAt: MoreThan(new Date(this.clock.now().getTime() - PENDING)),
      wrongCodes: LessThan(MAX_WRONG_CODES),
    };
    const lastStep = await this.stepOf(code, waiting);
    if (lastStep === undefined)
      await this.factors.increment({ accountId, confirmedAt: IsNull() }, 'wrongCodes', 1);
    else await this.factors.update({ accountId }, { lastStep });
    return lastStep !== undefined;
  }

  async acceptRecovery(accountId: number, code: string): Promise<boolean> {
    return (await this.secrets.use('recovery-code', recoverySecret(accountId, code))) !== undefined;
  }

  /** The time step of a code (RFC 6238); `undefined` if it is wrong, or there is no such factor. */
  private async stepOf(code: string, where: FindOptionsWhere<TotpFactor>): Promise<number | undefined> {
    const factor = await this.factors.findOne({ where, select: { accountId: true, secret: true } });
    if (!factor) return undefined;
    const secret = await this.columns.decrypt('totp_factors', 'secret', factor.accountId, factor.secret!);
    const totp = new TOTP({ secret, period: PERIOD });
    const timestamp = this.clock.now().getTime();
    // The library compares in constant time.
    const delta = totp.validate({ token: code.replaceAll(' ', ''), timestamp, window: WINDOW });
    return delta === null ? undefined : totp.counter({ timestamp }) + delta;
  }
}

/** Six groups of four letters and digits, in Base32. */
function newRecoveryCode(): string {
  const { base32 } = new Secret({ buffer: new Uint8Array(randomBytes(RECOVERY_BYTES)).buffer });
  return base32.toLowerCase().match(/.{4}/g)!.join('-');
}

/** Letter case, hyphens and spaces do not matter. */
const recoverySecret = (accountId: number, code: string): string =>
  `${accountId} ${code.toLowerCase().replaceAll(/[\s-]/g, '')}`;
