import { Optional } from '../../common/validation/optional.js';
import { Text } from '../../common/validation/text.js';

export class DeleteAccountInput {
  /** Required where the account has one. */
  @Optional()
  @Text()
  password?: string | null;
}
