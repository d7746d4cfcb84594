import { Entity, Index } from 'typeorm';
import { IdColumn, IntegerColumn, TextColumn, TimestampColumn } from '../database/columns.js';

/** One change and who is responsible. Rows are only added: the database rejects updates, and deletes of new rows. */
@Entity('audit_entries')
@Index('audit_entries_created_at', ['createdAt'])
@Index('audit_entries_actor_id', ['actorId', 'id'])
@Index('audit_entries_subject', ['subject', 'id'])
export class AuditEntry {
  @IdColumn()
  id!: number;

  @TimestampColumn('created_at')
  createdAt!: Date;

  /** The account, which may have been deleted since. Null for a command. */
  @IntegerColumn('actor_id', { nullable: true })
  actorId!: number | null;

  /** `PATCH /v1/posts/:id`, `mutation updateUser`, `command account staff` */
  @TextColumn('action')
  action!: string;

  @TextColumn('subject')
  subject!: string;

  @TextColumn('address')
  address!: string;

  @TextColumn('agent')
  agent!: string;

  @TextColumn('request_id')
  requestId!: string;
}
