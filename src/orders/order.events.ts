import { defineEvents } from '../platform/changes/index.js';
import { Order } from './order.entity.js';
import { ORDERS_PATH, OrderView } from './order.view.js';

export const ORDER_EVENTS = defineEvents({
  resource: 'order',
  collection: ORDERS_PATH,
  changes: ['created'],
  isPrivate: true,
  entity: Order,
  view: OrderView,
});
