import { Entity, Index } from 'typeorm';
import { IntegerColumn, TextColumn, TimestampColumn } from '../database/columns.js';

/** A waiting mail. Its text, and the token in it, are created when it is sent. */
@Entity('mails')
@Index('mails_next_attempt_at', ['nextAttemptAt'])
@Index('mails_owner', ['owner'])
@Index('mails_created_at', ['createdAt'])
export class OutboxMail {
  /** A UUID, part of the `Message-ID`. */
  @TextColumn('id', { primary: true })
  id!: string;

  /** The composer that writes it. */
  @TextColumn('kind')
  kind!: string;

  @TextColumn('owner')
  owner!: string;

  /** JSON, for the composer. */
  @TextColumn('data')
  data!: string;

  @IntegerColumn('attempts')
  attempts!: number;

  /** During an attempt: when another process may take it over. */
  @TimestampColumn('next_attempt_at')
  nextAttemptAt!: Date;

  @TimestampColumn('created_at')
  createdAt!: Date;
}
