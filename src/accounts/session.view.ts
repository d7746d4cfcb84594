import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { TimestampProperty } from '../platform/http/openapi/properties.js';
import type { Session } from './session.entity.js';

/** A session as the account's owner sees it: enough to recognize a device. */
@ApiSchema({ name: 'Login' })
export class SessionView {
  @ApiProperty({ example: '5f0c7a55-6a53-4d7e-9d4e-6f1f0c6f6c1b' })
  readonly id!: string;

  @ApiProperty({ enum: ['cookie', 'token'] })
  readonly kind!: Session['kind'];

  @TimestampProperty()
  readonly created_at!: string;

  /** Of a cookie to the minute; of tokens the last refresh. */
  @TimestampProperty()
  readonly last_used_at!: string;

  @ApiProperty({ example: '203.0.113.7' })
  readonly address!: string;

  @ApiProperty({ description: 'The `User-Agent`, cut at 200 characters.', example: 'curl/8.5.0' })
  readonly agent!: string;

  @ApiProperty({ description: 'Whether the request used this login.' })
  readonly current!: boolean;
}

/** @param sid the caller's own session */
export const toSessionView = (session: Session, sid: string | undefined): SessionView => ({
  id: session.id,
  kind: session.kind,
  created_at: session.createdAt.toISOString(),
  last_used_at: session.lastUsedAt.toISOString(),
  address: session.address,
  agent: session.agent,
  current: session.id === sid,
});

/** A session in the export of its account. */
export function toExportedSession(session: Session): Omit<SessionView, 'current'> {
  const { current: _, ...exported } = toSessionView(session, undefined);
  return exported;
}
