import { JsonText } from '../common/http/json-text.js';
import type { Queries } from '../database/queries.js';
import type { Transactions } from '../database/transactions.js';
import type { EventOutbox } from '../events/index.js';
import { ORDER_EVENTS } from './order.events.js';
import { ORDER_COLUMNS, type OrderView } from './order.view.js';

/** An order with its id and time; its payload is JSON text. */
export type StoredOrder = Omit<OrderView, 'payload'> & { readonly payload: string };

/** Inserts checked orders with their ids in one statement, for commands, and records events. They have no owner. */
export async function restoreOrders(
  { queries: { dialect }, transactions }: { queries: Queries; transactions: Transactions },
  orders: readonly StoredOrder[],
  events: EventOutbox,
): Promise<void> {
  const columns = Object.keys(ORDER_COLUMNS);
  await transactions.execute(
    `INSERT INTO orders (${columns.join(', ')})
     SELECT ${columns.join(', ')} FROM ${dialect.recordsOf('orders', columns, ':orders')} AS sent`,
    { orders: JSON.stringify(orders) },
  );
  const views = orders.map(({ id, status, payload, created_at }) => ({
    id,
    status,
    payload: new JsonText(payload),
    created_at,
  }));
  await events.record(...views.map((order) => ORDER_EVENTS.of('created', order)));
}
