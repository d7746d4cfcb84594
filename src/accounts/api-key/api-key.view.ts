import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property, TimestampProperty } from '../../platform/http/openapi/properties.js';
import { API_KEY_SCOPES, type ApiKeyScope } from '../../platform/access/index.js';
import type { ApiKey } from './api-key.entity.js';

/** An API key, as the account's owner sees it. */
@ApiSchema({ name: 'ApiKey' })
export class ApiKeyView {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ example: 'Nightly import' })
  readonly name!: string;

  @ApiProperty({ description: 'The first 8 characters of the key.', example: 'psk_4fQx' })
  readonly prefix!: string;

  @ApiProperty({ enum: API_KEY_SCOPES })
  readonly scope!: ApiKeyScope;

  @TimestampProperty()
  readonly created_at!: string;

  @ApiProperty({
    type: 'string',
    format: 'date-time',
    nullable: true,
    description: 'To the minute.',
    example: null,
  })
  readonly last_used_at!: string | null;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  readonly expires_at!: string | null;
}

@ApiSchema({ name: 'NewApiKey' })
export class NewApiKeyView extends ApiKeyView {
  @ApiProperty({
    description: 'Shown only once.',
    example: 'psk_4fQxexampleexampleexampleexampleexampleex0000',
  })
  readonly key!: string;
}

export const toNewApiKeyView = (stored: ApiKey, key: string): NewApiKeyView => ({
  ...fieldsOf(stored),
  key,
});

export const toApiKeyView = (key: ApiKey): ApiKeyView => fieldsOf(key);

const fieldsOf = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  scope: key.scope,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  expires_at: key.expiresAt?.toISOString() ?? null,
});
