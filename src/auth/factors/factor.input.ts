import { PickType } from '@nestjs/swagger';
import { Text } from '../../common/validation/text.js';
import { RecentInput } from '../logins/index.js';

export class SecondStepInput {
  /** The `mfa_token` of the first step. */
  @Text()
  mfa_token!: string;

  /** A code of the authenticator app, or a recovery code. */
  @Text({ max: 100 })
  code!: string;
}

export class CodeInput {
  /** A code of the authenticator app. */
  @Text({ max: 100 })
  code!: string;
}

export class RecentCodeInput extends PickType(RecentInput, ['password']) {
  /** A code of the authenticator app; to remove it, a recovery code as well. */
  @Text({ max: 100 })
  code!: string;
}
