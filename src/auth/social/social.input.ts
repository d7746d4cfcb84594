import { Optional } from '../../common/validation/fields.js';
import { Text } from '../../common/validation/text.js';

export class ExchangeInput {
  @Text()
  code!: string;

  /** Required if the login was started with a `code_challenge` (RFC 7636). */
  @Optional()
  @Text({ max: 128 })
  code_verifier?: string | null;
}
