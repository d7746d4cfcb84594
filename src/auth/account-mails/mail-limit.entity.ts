import { Entity, Index } from 'typeorm';
import { IntegerColumn, TextColumn, TimestampColumn } from '../../platform/database/columns.js';

/** How many mails were sent within the current period, which begins with the first one: to an address, or for a client. */
@Entity('mail_limits')
@Index('mail_limits_expires_at', ['expiresAt'])
export class MailLimit {
  /** SHA-256 of the kind and the address, or of the client. */
  @TextColumn('id', { primary: true })
  id!: string;

  @IntegerColumn('sent', { default: 1 })
  sent!: number;

  /** No other mail is sent before; null in rows of an older version, whose day is a minute. */
  @TimestampColumn('next_at', { nullable: true })
  nextAt!: Date | null;

  /** The end of the period. */
  @TimestampColumn('expires_at')
  expiresAt!: Date;
}
