// The public interface of changes.
export { AuditEntry } from './audit-entry.entity.js';
export { Changes } from './changes.js';
export { ChangesModule, eventAppender } from './changes.module.js';
export { defineEvents, EventTypes } from './define-events.js';
export { EventAppender } from './event-appender.js';
export { EventLog } from './event-log.js';
export { EventPurge } from './event-purge.js';
export { EventStore } from './event-store.js';
export { eventId, type EventRow, EVERY_EVENT, StoredEvent, toJson } from './stored-event.js';
export { OnDurableEvent } from './subscribers/subscription.js';
export { Subscribers } from './subscribers/subscribers.js';
