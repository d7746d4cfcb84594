import { Text } from '../../platform/http/validation/text.js';
import { EmailAddress } from '../../accounts/email-address.js';

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
