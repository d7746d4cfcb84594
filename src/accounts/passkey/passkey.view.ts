import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property, TimestampProperty } from '../../platform/http/openapi/properties.js';
import type { Passkey } from './passkey.entity.js';

/** A passkey, as the account's owner sees it. */
@ApiSchema({ name: 'Passkey' })
export class PasskeyView {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ example: 'Laptop' })
  readonly name!: string;

  @TimestampProperty()
  readonly created_at!: string;

  @ApiProperty({ type: 'string', format: 'date-time', nullable: true, example: null })
  readonly last_used_at!: string | null;
}

export const toPasskeyView = ({ id, name, createdAt, lastUsedAt }: Passkey): PasskeyView => ({
  id,
  name,
  created_at: createdAt.toISOString(),
  last_used_at: lastUsedAt?.toISOString() ?? null,
});

/** The options of `navigator.credentials`, as the browser's `parse…OptionsFromJSON()` takes them. */
export const WEBAUTHN_OPTIONS = { type: 'object', additionalProperties: true } as const;
