import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError, type FieldError } from '../../platform/http/errors/errors.js';
import type { FurtherRules } from '../../platform/http/validation/further-rules.js';
import { textFault } from '../../platform/http/validation/text.js';
import { Config } from '../../platform/config/config.js';
import { LeakedPasswords } from './leaked-passwords.js';
import { PasswordStrength } from './password-strength.js';
import { isTooLong, PASSWORD_LENGTH, Passwords, preparePassword } from './passwords.js';

const STRICT_LENGTH = { ...PASSWORD_LENGTH, min: 8 };

/** Of 4: safely unguessable for an attacker who has the hash. */
const MIN_SCORE = 3;

interface Owner {
  readonly email: string;
  readonly name: string;
}

/** Checks new passwords, by the settings `PASSWORD_POLICY` and `PASSWORD_BREACH_URL`. */
@Injectable()
export class PasswordPolicy implements FurtherRules, OnApplicationShutdown {
  private readonly strength = new PasswordStrength();
  private readonly leaked: LeakedPasswords | undefined;

  constructor(
    private readonly config: Config,
    private readonly passwords: Passwords,
  ) {
    const { passwordBreachUrl } = config;
    if (passwordBreachUrl !== undefined) this.leaked = new LeakedPasswords(passwordBreachUrl);
  }

  onApplicationShutdown(): Promise<void> {
    return this.strength.close();
  }

  /** The faults of a registration, with those of its other fields. */
  async faults({
    password,
    email = '',
    name = '',
  }: Partial<Owner & { password: string }>): Promise<FieldError[]> {
    const fault = password === undefined ? undefined : await this.fault(password, { email, name });
    return fault === undefined ? [] : [{ field: 'password', message: `password ${fault}` }];
  }

  /** @param field the field of the request that has the password */
  async check(field: string, password: string, owner: Owner): Promise<void> {
    const fault = await this.fault(password, owner);
    if (fault === undefined) return;
    const message = `${field} ${fault}`;
    throw new AppError('VALIDATION_ERROR', message, { details: [{ field, message }] });
  }

  /**
   * Hashes a new password of an account. Call it outside of a transaction, which would block other writes meanwhile.
   *
   * @param owner undefined for one that was deleted meanwhile
   * @param address of the client, if a client sends it
   */
  async hash(field: string, password: string, owner: Owner | undefined, address?: string): Promise<string> {
    if (owner) await this.check(field, password, owner);
    return this.passwords.hash(password, address);
  }

  private async fault(sent: string, { email, name }: Owner): Promise<string | undefined> {
    const isStrict = this.config.passwordPolicy === 'strict';
    const password = isTooLong(sent) ? sent : preparePassword(sent);
    const fault = textFault(password, isStrict ? STRICT_LENGTH : PASSWORD_LENGTH);
    if (fault !== undefined) return fault;
    const hints = [email, ...email.split('@', 1), name];
    if (isStrict && (await this.strength.score(password, hints)) < MIN_SCORE) {
      return 'is too easy to guess; use more words, and not your name, dates or patterns of keys';
    }
    if (await this.leaked?.includes(password)) {
      return 'is known from a leak of passwords; use one that you use nowhere else';
    }
    return undefined;
  }
}
