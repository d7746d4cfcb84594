import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property, TimestampProperty } from '../../platform/http/openapi/properties.js';
import type { SocialIdentity } from './social-identity.entity.js';

/** An identity at a provider, as the account's owner sees it. */
@ApiSchema({ name: 'Identity' })
export class IdentityView {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ example: 'google' })
  readonly provider!: string;

  @TimestampProperty()
  readonly created_at!: string;
}

export const toIdentityView = ({ id, provider, createdAt }: SocialIdentity): IdentityView => ({
  id,
  provider,
  created_at: createdAt.toISOString(),
});

/** The address that links an identity, for a browser. */
@ApiSchema({ name: 'Authorization' })
export class AuthorizationView {
  @ApiProperty({ example: 'https://accounts.google.com/o/oauth2/v2/auth?client_id=…' })
  readonly authorization_url!: string;
}
