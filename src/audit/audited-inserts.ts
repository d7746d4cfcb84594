import { type EntitySubscriberInterface, EventSubscriber, type InsertEvent } from 'typeorm';
import { currentTrail } from '../platform/http/audit-trail.js';
import { AuditEntry } from './audit-entry.entity.js';

/** Passes the id of an inserted row to the audit trail, so that its entry can name the row. */
@EventSubscriber()
export class AuditedInserts implements EntitySubscriberInterface<object> {
  afterInsert({ metadata, entity }: InsertEvent<object>): void {
    const trail = currentTrail();
    if (!trail || metadata.target === AuditEntry) return;
    const [key, ...more] = metadata.primaryColumns;
    const id: unknown = more.length === 0 ? key?.getEntityValue(entity) : undefined;
    const isText = typeof id === 'number' || typeof id === 'string';
    trail.noteInsert(metadata.tableName, isText ? String(id) : undefined);
  }
}
