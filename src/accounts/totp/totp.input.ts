import { ApiProperty, PickType } from '@nestjs/swagger';
import { OptionalField } from '../../platform/http/validation/fields.js';
import { Text } from '../../platform/http/validation/text.js';
import { RecentInput } from '../../platform/access/index.js';

export class SecondStepInput {
  /** The `mfa_token` of the first step. */
  @Text()
  mfa_token!: string;

  /** A code of the authenticator app, or a recovery code. */
  @Text({ max: 100 })
  code!: string;

  /** Required if a redirect of a social login had the `mfa_token`, and the login was started with a `code_challenge`. */
  @OptionalField()
  @Text({ max: 128 })
  @ApiProperty({ example: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' })
  code_verifier?: string | null;
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
