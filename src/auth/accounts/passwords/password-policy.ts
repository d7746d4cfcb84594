import { AppError, type FieldError } from '../../../common/errors/errors.js';
import type { FurtherRules } from '../../../common/validation/further-rules.js';
import { textFault } from '../../../common/validation/text.js';
import type { PasswordPolicyMode } from '../../../config/config.js';

/** In code points, for each policy. */
export const PASSWORD_LENGTH = { min: 6, max: 1024 };
const STRICT_LENGTH = { ...PASSWORD_LENGTH, min: 8 };

interface Owner {
  readonly email: string;
  readonly name: string;
}

/** Checks new passwords, by the setting `PASSWORD_POLICY`. */
export class PasswordPolicy implements FurtherRules {
  private common: Promise<ReadonlySet<string>> | undefined;

  constructor(private readonly mode: PasswordPolicyMode) {}

  /** The faults of a registration, with those of its other fields. */
  async faults({
    password,
    email = '',
    name = '',
  }: Partial<Owner & { password: string }>): Promise<FieldError[]> {
    const fault = password === undefined ? undefined : await this.fault(password, { email, name });
    return fault === undefined ? [] : [{ field: 'password', message: `password ${fault}` }];
  }

  /**
   * @param field the field of the request that has the password
   * @throws AppError `VALIDATION_ERROR` that names the broken rules
   */
  async check(field: string, password: string, owner: Owner): Promise<void> {
    const fault = await this.fault(password, owner);
    if (fault === undefined) return;
    const message = `${field} ${fault}`;
    throw new AppError('VALIDATION_ERROR', message, { details: [{ field, message }] });
  }

  private async fault(password: string, { email, name }: Owner): Promise<string | undefined> {
    if (this.mode === 'length') return textFault(password, PASSWORD_LENGTH);

    const lengthFault = textFault(password, STRICT_LENGTH);
    if (lengthFault !== undefined) return lengthFault;
    if (/^\p{Nd}+$/u.test(password)) return 'must not be digits only';
    const plain = password.toLowerCase();
    const [localPart] = email.split('@');
    if ([email, localPart, name].some((text) => text?.toLowerCase() === plain)) {
      return 'must not be your e-mail or name';
    }
    return (await this.commonPasswords()).has(plain) ? 'is one of those that are guessed first' : undefined;
  }

  /** About 50,000 passwords in lower case, loaded only if the policy uses them. */
  private commonPasswords(): Promise<ReadonlySet<string>> {
    this.common ??= import('@zxcvbn-ts/language-common').then(
      ({ dictionary }) => new Set(dictionary['passwords-common']),
    );
    return this.common;
  }
}
