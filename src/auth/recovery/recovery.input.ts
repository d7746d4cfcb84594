import { Text } from '../../common/validation/text.js';
import { EmailAddress, NewEmailAddress } from '../accounts/index.js';

export class TokenInput {
  @Text()
  token!: string;
}

export class ChangeEmailInput {
  @NewEmailAddress()
  new_email!: string;

  @Text()
  password!: string;
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
