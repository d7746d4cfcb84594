import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock/clock.js';
import { AppError } from '../common/errors/errors.js';
import type { Page } from '../common/pagination/page.js';
import type { PageRequest } from '../common/pagination/page-request.js';
import { NO_ROW } from '../common/validation/id.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import { ORDER_COLUMNS, type OrderRow } from './order.view.js';

@Injectable()
export class OrdersService {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  /** Newest first. */
  async list(page: PageRequest): Promise<Page<OrderRow>> {
    const counted = await this.queries.one<{ total: number }>('SELECT count(*) AS total FROM orders');
    const { total } = counted!;
    const { limit, offset } = page;
    if (offset >= total) return page.of([], total);
    const rows = await this.queries.all<OrderRow>(
      `SELECT ${ORDER_COLUMNS} FROM orders ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset`,
      { limit, offset },
    );
    return page.of(rows, total);
  }

  /** @throws AppError `NOT_FOUND` */
  async findOne(id: number): Promise<OrderRow> {
    const order =
      id === NO_ROW
        ? undefined
        : await this.queries.one<OrderRow>(`SELECT ${ORDER_COLUMNS} FROM orders WHERE id = :id`, { id });
    if (!order) throw new AppError('NOT_FOUND', 'Order not found');
    return order;
  }

  /** @param payload text of a JSON object */
  async create(payload: string): Promise<OrderRow> {
    const [order] = await this.transactions.execute<OrderRow>(
      `INSERT INTO orders (status, payload, created_at) VALUES ('created', :payload, :now)
       RETURNING ${ORDER_COLUMNS}`,
      { payload, now: this.clock.now().toISOString() },
    );
    return order!;
  }
}
