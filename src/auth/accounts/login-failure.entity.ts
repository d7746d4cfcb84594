import { Entity, Index } from 'typeorm';
import { IntegerColumn, TextColumn, TimestampColumn } from '../../platform/database/columns.js';

/** How often a pair of account and client address has failed to log in within the current window. */
@Entity('login_failures')
@Index('login_failures_expires_at', ['expiresAt'])
export class LoginFailure {
  /** SHA-256 of the pair. */
  @TextColumn('id', { primary: true })
  id!: string;

  @IntegerColumn('failures')
  failures!: number;

  @TimestampColumn('expires_at')
  expiresAt!: Date;
}
