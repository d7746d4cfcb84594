import { defineEvents } from '../events/index.js';
import { ORDER_COLUMNS } from './order.view.js';

export const ORDER_EVENTS = defineEvents({
  resource: 'order',
  collection: '/v1/orders',
  changes: ['created'],
  isPrivate: true,
  columns: ORDER_COLUMNS,
});
