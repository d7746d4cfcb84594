import { Optional } from '../platform/http/validation/fields.js';
import { Text } from '../platform/http/validation/text.js';

/** Absent and null leave a field unchanged. */
export class UpdateAccountInput {
  @Optional()
  @Text({ min: 1, max: 150 })
  name?: string | null;

  @Optional()
  @Text({ max: 20 })
  phone?: string | null;
}

export class DeleteAccountInput {
  /** Required if the account has a password. */
  @Optional()
  @Text()
  password?: string | null;

  /** A code of the authenticator app, or a recovery code: required while two-step login is on. */
  @Optional()
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
