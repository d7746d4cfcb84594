import { Entity, Index } from 'typeorm';
import type { Erasure } from '../platform/jobs/account-data.js';
import { IdColumn, IntegerColumn, TextColumn, TimestampColumn } from '../platform/database/columns.js';

const DAY = 24 * 3600_000;

/** When entries expire, for the purge. @param days how long they are kept */
export const auditExpiry = (days: number) => ({ column: 'created_at', lifetime: days * DAY });

/** Entries stay, with the id of the deleted account and without address and client. */
export const eraseSource: Erasure = ({ id }, manager) =>
  manager
    .createQueryBuilder()
    .update(AuditEntry)
    .set({ address: '', agent: '' })
    .where('actor_id = :id', { id })
    .execute();

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

  /** The path of the changed resource. */
  @TextColumn('subject')
  subject!: string;

  @TextColumn('address')
  address!: string;

  @TextColumn('agent')
  agent!: string;

  @TextColumn('request_id')
  requestId!: string;
}
