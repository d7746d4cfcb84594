import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, In, MoreThan, Repository } from 'typeorm';
import type { Account } from '../accounts/account.entity.js';
import { OwnedByAccount, type OwnedData } from '../platform/access/index.js';
import { Clock } from '../platform/jobs/clock.js';
import { AppError, ERRORS } from '../platform/http/errors/errors.js';
import type { Page } from '../platform/http/pages/page.js';
import type { PageRequest } from '../platform/http/pages/page-request.js';
import { isForeignKeyViolation } from '../platform/database/failures.js';
import { Queries } from '../platform/database/queries.js';
import type { StatementParameters } from '../platform/database/statement.js';
import { Transactions } from '../platform/database/transactions.js';
import { Changes } from '../platform/changes/index.js';
import { Order } from './order.entity.js';
import { ORDER_EVENTS } from './order.events.js';
import { type OrderView, toOrderView } from './order.view.js';

const INSERT = `
  INSERT INTO orders (account_id, status, payload, created_at) VALUES (:ownerId, 'created', :payload, :now)
  RETURNING id, version`;

/** Orders in memory at a time; each has at most 64 KiB. */
const EXPORT_BATCH = 100;

@Injectable()
@OwnedByAccount()
export class OrdersService implements OwnedData {
  readonly exports = { orders: ({ id }: Pick<Account, 'id'>) => this.ownedBy(id) };

  constructor(
    @InjectRepository(Order) private readonly orders: Repository<Order>,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
    private readonly changes: Changes,
  ) {}

  /** The orders that the account may read, newest first. */
  async list(page: PageRequest, reader: OrderReader): Promise<Page<Order>> {
    const total = await this.count(reader);
    const { limit, offset } = page;
    if (offset >= total) return page.of([], total);
    const order = { createdAt: 'DESC', id: 'DESC' } as const;
    if (!page.isDeep) {
      const where = visibleTo(reader);
      return page.of(await this.orders.find({ where, order, skip: offset, take: limit }), total);
    }
    const ids = await this.search<{ id: number }>(
      ['id', 'ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset'],
      reader,
      { limit, offset },
    );
    return page.of(await this.orders.find({ where: { id: In(ids.map(({ id }) => id)) }, order }), total);
  }

  /** All orders of an account, oldest first, in batches. */
  private async *ownedBy(accountId: number): AsyncGenerator<OrderView[]> {
    let batch: Order[] = [];
    do {
      const id = MoreThan(batch.at(-1)?.id ?? 0);
      batch = await this.orders.find({ where: { accountId, id }, order: { id: 'ASC' }, take: EXPORT_BATCH });
      yield batch.map(toOrderView);
    } while (batch.length === EXPORT_BATCH);
  }

  /** The number of orders that the account may read. */
  async count(reader: OrderReader): Promise<number> {
    const [row] = await this.search<{ total: number }>(['count(*) AS total'], reader);
    return row!.total;
  }

  /** @throws AppError `NOT_FOUND`, also for an order that the account may not read */
  async get(id: number, reader: OrderReader): Promise<Order> {
    const order = await this.orders.findOneBy({ ...visibleTo(reader), id });
    if (!order) throw new AppError('NOT_FOUND', 'Order not found');
    return order;
  }

  /** Reads what may be all orders, without delaying other requests. */
  private search<Row>(
    [columns, end = '']: readonly [columns: string, end?: string],
    reader: OrderReader,
    parameters: StatementParameters = {},
  ): Promise<Row[]> {
    const accountId = visibleTo(reader).accountId as number | undefined;
    const visible = accountId === undefined ? '' : 'AND account_id = :accountId';
    return this.queries.search<Row>(
      `SELECT ${columns} FROM orders WHERE ${this.queries.dialect.withinDeadline} ${visible} ${end}`,
      { ...parameters, ...(accountId !== undefined && { accountId }) },
    );
  }

  /**
   * @param payload text of a JSON object
   * @throws AppError `UNAUTHENTICATED` when the owner was deleted after the authentication
   */
  create(payload: string, owner: Account | null): Promise<Order> {
    const createdAt = this.clock.now();
    const ownerId = owner?.id ?? null;
    const parameters = { ownerId, payload, now: createdAt.toISOString() };
    const insert = async () => {
      const [row] = await this.transactions.execute<Pick<Order, 'id' | 'version'>>(INSERT, parameters);
      const order = this.orders.create({ ...row, accountId: ownerId, status: 'created', payload, createdAt });
      await this.changes.record(ORDER_EVENTS.of('created', toOrderView(order), { ownerId }));
      return order;
    };
    return this.transactions.run(insert).catch((error: unknown) => {
      if (!isForeignKeyViolation(error)) throw error;
      throw new AppError('UNAUTHENTICATED', ERRORS.UNAUTHENTICATED.message, { cause: error });
    });
  }
}

/** Null if everyone may read everything. */
export type OrderReader = Account | null;

const visibleTo = (reader: OrderReader): FindOptionsWhere<Order> =>
  reader === null || reader.isStaff ? {} : { accountId: reader.id };
