import { createHash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Entity, Index, IsNull, JoinColumn, ManyToOne, Not, Repository } from 'typeorm';
import { HiddenColumn, IntegerColumn, TextColumn, TimestampColumn } from '../platform/database/columns.js';
import { Transactions } from '../platform/database/transactions.js';
import { Clock } from '../platform/jobs/clock.js';
import { Account } from './account.entity.js';
import { OwnedByAccount, type OwnedData } from '../platform/access/index.js';

/** A secret that works once: of any number of concurrent attempts, exactly one succeeds. */
@Entity('one_time_secrets')
@Index('one_time_secrets_account_id', ['accountId'])
@Index('one_time_secrets_expires_at', ['expiresAt'])
export class OneTimeSecret {
  /** SHA-256 of the secret. */
  @HiddenColumn('id', { primary: true })
  id!: string;

  /** What the secret is for, such as `reset-password`; it is wrong for everything else. */
  @TextColumn('purpose')
  purpose!: string;

  /** Null for a challenge, which anyone gets. */
  @IntegerColumn('account_id', { nullable: true })
  accountId!: number | null;

  @ManyToOne(() => Account, { nullable: true })
  @JoinColumn({ name: 'account_id', foreignKeyConstraintName: 'one_time_secrets_account_id_fkey' })
  account?: Account;

  /** The address that the secret was sent to: whoever has it can read the mails of that address. */
  @TextColumn('email', { nullable: true })
  email!: string | null;

  /** Of the account at the first step of a login: a change of the password ends the login. */
  @TimestampColumn('password_changed_at', { nullable: true })
  passwordChangedAt!: Date | null;

  /** The `code_challenge` (S256, RFC 7636) of the only client that may use the secret; null if it sent none. */
  @TextColumn('code_challenge', { nullable: true })
  codeChallenge!: string | null;

  /** How often it was tried, for secrets that need a code as well. */
  @IntegerColumn('attempts', { default: 0 })
  attempts!: number;

  /** Null for a secret that does not expire. */
  @TimestampColumn('expires_at', { nullable: true })
  expiresAt!: Date | null;
}

type NewSecret = Pick<OneTimeSecret, 'purpose'> &
  Partial<Pick<OneTimeSecret, 'email' | 'passwordChangedAt' | 'codeChallenge'>> & {
    readonly accountId: number;
  };

/** What a statement returns of a secret. */
interface SecretRow {
  readonly accountId: number;
  readonly email: string | null;
  /** As text. */
  readonly passwordChangedAt: string | null;
}

const RETURNING = 'RETURNING account_id AS "accountId", email, password_changed_at AS "passwordChangedAt"';

/** All secrets that work once. The database has only their hashes. */
@Injectable()
@OwnedByAccount()
export class OneTimeSecrets implements OwnedData {
  readonly tables = ['one_time_secrets'];

  constructor(
    @InjectRepository(OneTimeSecret) private readonly secrets: Repository<OneTimeSecret>,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /**
   * @param lifetime in milliseconds
   * @returns the secret, of 256 random bits
   * @throws an error for which {@link isForeignKeyViolation} is true, when the account was deleted concurrently
   */
  async issue(secret: NewSecret, lifetime: number): Promise<string> {
    const text = randomBytes(32).toString('base64url');
    const expiresAt = new Date(this.clock.now().getTime() + lifetime);
    await this.secrets.insert({ id: hashOf(text), expiresAt, ...secret });
    return text;
  }

  /** Stores secrets that do not expire. */
  async store(secret: NewSecret, texts: readonly string[]): Promise<void> {
    await this.secrets.insert(texts.map((text) => ({ id: hashOf(text), ...secret })));
  }

  /** Reads a secret, which stays usable, and may have expired. */
  find(purpose: string, text: string): Promise<OneTimeSecret | null> {
    return this.secrets.findOneBy({ id: hashOf(text), purpose });
  }

  count(purpose: string, accountId: number): Promise<number> {
    return this.secrets.countBy({ purpose, accountId });
  }

  /**
   * Uses a secret, in one statement.
   *
   * @param codeChallenge must be that of the secret
   * @returns `undefined` if it is wrong, used or expired
   */
  async use(
    purpose: string,
    text: string,
    codeChallenge: string | null = null,
  ): Promise<SecretRow | undefined> {
    // SQL, because TypeORM rejects `DELETE … RETURNING` on SQLite.
    const [used] = await this.transactions.execute<SecretRow>(
      `DELETE FROM one_time_secrets
       WHERE id = :id AND purpose = :purpose AND (expires_at IS NULL OR expires_at > :now)
         AND code_challenge IS NOT DISTINCT FROM CAST(:codeChallenge AS text) ${RETURNING}`,
      { id: hashOf(text), purpose, codeChallenge, now: this.clock.now().toISOString() },
    );
    return used;
  }

  /**
   * Counts an attempt with a secret that stays usable, before its outcome is known: concurrent attempts cannot exceed the
   * limit.
   *
   * @returns `undefined` if the secret is wrong, used or expired, or has no attempts left
   */
  async reserveAttempt(purpose: string, text: string, maxAttempts: number): Promise<SecretRow | undefined> {
    // SQL, because TypeORM has no `UPDATE … RETURNING` on SQLite.
    const [attempted] = await this.transactions.execute<SecretRow>(
      `UPDATE one_time_secrets SET attempts = attempts + 1
       WHERE id = :id AND purpose = :purpose AND expires_at > :now AND attempts < :maxAttempts ${RETURNING}`,
      { id: hashOf(text), purpose, maxAttempts, now: this.clock.now().toISOString() },
    );
    return attempted;
  }

  /** Takes back {@link reserveAttempt}. */
  async revertAttempt(purpose: string, text: string): Promise<void> {
    await this.secrets.decrement({ id: hashOf(text), purpose }, 'attempts', 1);
  }

  /**
   * Uses a secret that was not stored when it was issued, by remembering it until it expires.
   *
   * @returns false if it was used before
   */
  async useUnstored(purpose: string, text: string, expiresAt: Date): Promise<boolean> {
    // SQL, because TypeORM does not report whether an `INSERT … ON CONFLICT DO NOTHING` has inserted a row.
    const used = await this.transactions.execute(
      `INSERT INTO one_time_secrets (id, purpose, expires_at) VALUES (:id, :purpose, :expiresAt)
       ON CONFLICT (id) DO NOTHING RETURNING id`,
      { id: hashOf(text), purpose, expiresAt: expiresAt.toISOString() },
    );
    return used.length === 1;
  }

  /** Ends the secrets of an account for a purpose. */
  async end(accountId: number, purpose: string): Promise<void> {
    await this.secrets.delete({ accountId, purpose });
  }

  /** Ends the secrets that were sent to an address of the account, because its password or e-mail changes. */
  async onCredentialsChange({ id: accountId }: Pick<Account, 'id'>): Promise<void> {
    await this.secrets.delete({ accountId, email: Not(IsNull()) });
  }
}

/** Random secrets need neither a salt nor a slow hash. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
