import { Text } from '../../common/validation/text.js';

export class LoginInput {
  @Text()
  email!: string;

  @Text()
  password!: string;
}

export class RefreshInput {
  @Text()
  refresh!: string;
}

export class VerifyInput {
  @Text()
  token!: string;
}
