import { Optional } from '../../common/validation/fields.js';
import { Text } from '../../common/validation/text.js';

export class DeleteAccountInput {
  /** Required if the account has a password. */
  @Optional()
  @Text()
  password?: string | null;
}
