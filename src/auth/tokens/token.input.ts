import { Text } from '../../platform/http/validation/text.js';

export class RefreshInput {
  @Text()
  refresh!: string;
}

export class VerifyInput {
  @Text()
  token!: string;
}
