import { Text } from '../../common/validation/text.js';

export class ExchangeInput {
  @Text()
  code!: string;
}
