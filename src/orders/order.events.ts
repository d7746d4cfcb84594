import { defineEvents } from '../events/index.js';

export const ORDER_EVENTS = defineEvents({
  resource: 'order',
  collection: '/v1/orders',
  changes: ['created'],
  isPrivate: true,
});
