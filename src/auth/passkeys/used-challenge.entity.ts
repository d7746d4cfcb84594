import { Entity, Index } from 'typeorm';
import { TextColumn, TimestampColumn } from '../../platform/database/columns.js';

/** A challenge of WebAuthn to which there was a response. It is kept until it expires. */
@Entity('used_challenges')
@Index('used_challenges_expires_at', ['expiresAt'])
export class UsedChallenge {
  /** SHA-256 of the challenge. */
  @TextColumn('id', { primary: true })
  id!: string;

  @TimestampColumn('expires_at')
  expiresAt!: Date;
}
