import { Entity, Index } from 'typeorm';
import { IntegerColumn, TextColumn, TimestampColumn } from '../../database/columns.js';

/** How many mails of a kind were sent to an address within the current day, which begins with the first one. */
@Entity('mail_limits')
@Index('mail_limits_expires_at', ['expiresAt'])
export class MailLimit {
  /** SHA-256 of the kind and the address. */
  @TextColumn('id', { primary: true })
  id!: string;

  @IntegerColumn('sent', { default: 1 })
  sent!: number;

  /** No other mail is sent before; null in rows of an older version, whose day is a minute. */
  @TimestampColumn('next_at', { nullable: true })
  nextAt!: Date | null;

  /** The end of the day. */
  @TimestampColumn('expires_at')
  expiresAt!: Date;
}
