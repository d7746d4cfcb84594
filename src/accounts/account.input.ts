import { ApiProperty, PickType } from '@nestjs/swagger';
import { Optional } from '../platform/http/validation/fields.js';
import { CheckedBy } from '../platform/http/validation/further-rules.js';
import { Text } from '../platform/http/validation/text.js';
import { PasswordPolicy } from '../auth/password/password-policy.js';
import { PASSWORD_LENGTH } from '../auth/password/passwords.js';
import { NewEmailAddress } from './email-address.js';

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
  @Optional()
  @Text({ max: 20 })
  phone?: string | null;
}

/** Absent and null leave a field unchanged. */
export class UpdateAccountInput extends PickType(RegisterInput, ['phone']) {
  @Optional()
  @Text({ min: 1, max: 150 })
  name?: string | null;
}

export class ChangePasswordInput {
  @Text()
  old_password!: string;

  /** The policy checks the length, after the old password. */
  @Text()
  new_password!: string;
}

export class LoginInput {
  @Text()
  email!: string;

  @Text()
  password!: string;
}
