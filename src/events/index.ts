// The public interface of events.
export { defineEvents } from '../platform/changes/define-events.js';
export { EventPurge } from '../platform/changes/event-purge.js';
export { EventLog } from '../platform/changes/event-log.js';
export { EventOutbox } from '../platform/changes/event-outbox.js';
export { EVERY_EVENT } from '../platform/changes/event-filter.js';
export { EventAppender } from '../platform/changes/event-appender.js';
export { EventStore } from '../platform/changes/event-store.js';
export { EventTypes } from '../platform/changes/event-types.js';
export { eventAppender, EventRecordsModule, EventsModule } from './events.module.js';
export { eventId, type EventRow, StoredEvent, toJson } from '../platform/changes/stored-event.js';
export { OnDurableEvent } from '../platform/changes/subscribers/event-subscriber.js';
export { Subscribers } from '../platform/changes/subscribers/subscribers.js';
