import { ApiProperty } from '@nestjs/swagger';
import { EmailAddress, NewEmailAddress } from '../email-address.js';
import { OptionalField } from '../../platform/http/validation/fields.js';
import { CheckedBy } from '../../platform/http/validation/further-rules.js';
import { Text } from '../../platform/http/validation/text.js';
import { PasswordPolicy } from './password-policy.js';
import { PASSWORD_LENGTH } from './passwords.js';

@CheckedBy(PasswordPolicy)
export class RegisterInput {
  @NewEmailAddress()
  email!: string;

  @Text({ min: 1, max: 150 })
  name!: string;

  /** The policy checks the length. */
  @Text()
  @ApiProperty({ minLength: PASSWORD_LENGTH.min, maxLength: PASSWORD_LENGTH.max })
  password!: string;

  /** Absent and null mean no number. */
  @OptionalField()
  @Text({ max: 20 })
  phone?: string | null;
}

export class ChangePasswordInput {
  @Text()
  old_password!: string;

  /** The policy checks the length, after the old password. */
  @Text()
  new_password!: string;
}

export class ResetPasswordInput {
  @EmailAddress()
  email!: string;
}

export class ConfirmResetInput {
  @Text()
  token!: string;

  /** The policy checks the length, after the token. */
  @Text()
  new_password!: string;
}
