import { defineEvents } from '../events/index.js';

/** As in version 2 of users. */
export const USER_EVENTS = defineEvents({
  resource: 'user',
  collection: '/v2/users',
  changes: ['created', 'updated', 'deleted'],
  columns: { id: 'text', name: 'value', email: 'value', created_at: 'moment', updated_at: 'moment' },
});
