import { ApiProperty } from '@nestjs/swagger';
import { OptionalField, QueryField } from '../../platform/http/validation/fields.js';
import { Text } from '../../platform/http/validation/text.js';

/** The query of the start of a login. */
export class StartSocialLoginQuery {
  @QueryField({ type: 'string' })
  readonly code_challenge?: string;

  @QueryField({ type: 'string', enum: ['S256'] })
  readonly code_challenge_method?: string;

  @QueryField({
    type: 'string',
    description: '`account` ends at the account page of this service; it needs a `code_challenge`.',
  })
  readonly return?: string;
}

/** The query of the start of a link. */
export class StartLinkQuery {
  @QueryField({ type: 'string', description: '`account` ends at the account page of this service.' })
  readonly return?: string;
}

/** A login of a session with the one-time code of a social login. */
export class SocialSessionInput {
  @Text()
  social_code!: string;

  /** Of the `code_challenge` (RFC 7636) that the login was started with. */
  @OptionalField()
  @Text({ max: 128 })
  @ApiProperty({ example: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' })
  code_verifier?: string | null;
}

export class ExchangeInput {
  @Text()
  code!: string;

  /** Required if the login was started with a `code_challenge` (RFC 7636). */
  @OptionalField()
  @Text({ max: 128 })
  @ApiProperty({ example: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk' })
  code_verifier?: string | null;
}
