import { RecentInput } from '../platform/access/index.js';
import { OptionalField, TrueOrFalse } from '../platform/http/validation/fields.js';
import { Text } from '../platform/http/validation/text.js';
import { NewEmailAddress } from './email-address.js';

/** Absent and null leave a field unchanged. */
export class UpdateAccountInput {
  @OptionalField()
  @Text({ min: 1, max: 150 })
  name?: string | null;

  @OptionalField()
  @Text({ max: 20 })
  phone?: string | null;
}

/** What a superuser sets; absent and null leave a field unchanged. */
export class ManageAccountInput extends RecentInput {
  @OptionalField()
  @TrueOrFalse()
  is_active?: boolean | null;

  @OptionalField()
  @TrueOrFalse()
  is_staff?: boolean | null;
}

export class DeleteAccountInput {
  /** Required if the account has a password. */
  @OptionalField()
  @Text()
  password?: string | null;

  /** A code of the authenticator app, or a recovery code: required while two-step login is on. */
  @OptionalField()
  @Text({ max: 100 })
  code?: string | null;
}

/** An e-mail and a password, which identify an account. */
export class LoginInput {
  @Text()
  email!: string;

  @Text()
  password!: string;
}

export class TokenInput {
  @Text()
  token!: string;
}

export class VerifyEmailInput extends TokenInput {
  /** Of the account: required if it already has a passkey, a second factor, an API key or an identity. */
  @OptionalField()
  @Text()
  password?: string | null;
}

export class ChangeEmailInput {
  @NewEmailAddress()
  new_email!: string;

  @Text()
  password!: string;

  /** A code of the authenticator app, or a recovery code: required while two-step login is on. */
  @OptionalField()
  @Text({ max: 100 })
  code?: string | null;
}
