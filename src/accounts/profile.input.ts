import { Optional } from '../platform/http/validation/fields.js';
import { Text } from '../platform/http/validation/text.js';

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
