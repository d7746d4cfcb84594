// The public interface of changes.
export { AuditEntry } from './audit-entry.entity.js';
export { Changes } from './changes.js';
export { ChangesModule, eventAppender } from './changes.module.js';
export { defineEvents } from './define-events.js';
export { EventAppender } from './event-appender.js';
export { EVERY_EVENT } from './event-filter.js';
export { EventLog } from './event-log.js';
export { EventPurge } from './event-purge.js';
export { EventStore } from './event-store.js';
export { EventTypes } from './event-types.js';
export { eventId, type EventRow, StoredEvent, toJson } from './stored-event.js';
export { OnDurableEvent } from './subscribers/event-subscriber.js';
export { Subscribers } from './subscribers/subscribers.js';
