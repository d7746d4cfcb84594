import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import {
  Int64Property,
  NullableInt64Property,
  TimestampProperty,
} from '../platform/http/openapi/properties.js';
import type { AuditEntry } from '../platform/changes/index.js';

@ApiSchema({ name: 'AuditEntry' })
export class AuditEntryView {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @TimestampProperty()
  readonly created_at!: string;

  @NullableInt64Property({
    description:
      'The account that made the change; null for a command. The account may have been deleted since.',
    example: 1,
  })
  readonly account_id!: number | null;

  @ApiProperty({
    description: 'Method and route, or the mutation, or the command.',
    example: 'PATCH /auth/me/',
  })
  readonly action!: string;

  @ApiProperty({ description: 'The path of what was changed.', example: '/auth/me' })
  readonly subject!: string;

  @ApiProperty({ description: 'Of the client; empty for a command.', example: '203.0.113.7' })
  readonly address!: string;

  @ApiProperty({ description: 'The `User-Agent`, cut at 200 characters.', example: 'curl/8.5.0' })
  readonly agent!: string;

  @ApiProperty({ description: 'The `X-Request-ID` of the response, and of the lines in the log.' })
  readonly request_id!: string;
}

export const toAuditEntryView = (entry: AuditEntry): AuditEntryView => ({
  id: entry.id,
  created_at: entry.createdAt.toISOString(),
  account_id: entry.actorId,
  action: entry.action,
  subject: entry.subject,
  address: entry.address,
  agent: entry.agent,
  request_id: entry.requestId,
});
