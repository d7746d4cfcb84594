import { Entity, Index } from 'typeorm';
import { TextColumn, TimestampColumn } from '../../database/columns.js';

/** Until when no other mail of a kind is sent to an address. */
@Entity('mail_limits')
@Index('mail_limits_expires_at', ['expiresAt'])
export class MailLimit {
  /** SHA-256 of the kind and the address. */
  @TextColumn('id', { primary: true })
  id!: string;

  @TimestampColumn('expires_at')
  expiresAt!: Date;
}
