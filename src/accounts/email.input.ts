import { Optional } from '../platform/http/validation/fields.js';
import { Text } from '../platform/http/validation/text.js';
import { NewEmailAddress } from './email-address.js';

export class TokenInput {
  @Text()
  token!: string;
}

export class VerifyEmailInput extends TokenInput {
  /** Of the account: required if it already has a passkey, a second factor, an API key or an identity. */
  @Optional()
  @Text()
  password?: string | null;
}

export class ChangeEmailInput {
  @NewEmailAddress()
  new_email!: string;

  @Text()
  password!: string;

  /** A code of the authenticator app, or a recovery code: required while two-step login is on. */
  @Optional()
  @Text({ max: 100 })
  code?: string | null;
}
