import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { type FindOptionsWhere, In, MoreThan, Repository, type SelectQueryBuilder } from 'typeorm';
import type { Account } from '../accounts/account.entity.js';
import { Clock } from '../platform/jobs/clock.js';
import { AppError, ERRORS } from '../platform/http/errors/errors.js';
import { type Keyset, type KeysetRequest, positionParameters } from '../platform/http/pages/keyset.js';
import type { Page } from '../platform/http/pages/page.js';
import type { PageRequest } from '../platform/http/pages/page-request.js';
import { isForeignKeyViolation } from '../platform/database/failures.js';
import { Queries } from '../platform/database/queries.js';
import type { Parameters } from '../platform/database/statement.js';
import { Transactions } from '../platform/database/transactions.js';
import { Changes } from '../platform/changes/index.js';
import { Order, type OrderSummary } from './order.entity.js';
import { ORDER_EVENTS } from './order.events.js';
import { type OrderView, toOrderView } from './order.view.js';

const INSERT = `
  INSERT INTO orders (account_id, status, payload, created_at) VALUES (:ownerId, 'created', :payload, :now)
  RETURNING id, version`;

/** Orders in memory at a time; each has at most 64 KiB. */
const EXPORT_BATCH = 100;

@Injectable()
export class OrdersService {
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
  async *ownedBy(accountId: number): AsyncGenerator<OrderView[]> {
    let batch: Order[] = [];
    do {
      const id = MoreThan(batch.at(-1)?.id ?? 0);
      batch = await this.orders.find({ where: { accountId, id }, order: { id: 'ASC' }, take: EXPORT_BATCH });
      yield batch.map(toOrderView);
    } while (batch.length === EXPORT_BATCH);
  }

  /** Like {@link list}, after a position of {@link NEWEST_FIRST}, without payloads. */
  listAfter({ after, limit }: KeysetRequest, reader: OrderReader): Promise<OrderSummary[]> {
    const query = this.orders.createQueryBuilder('o').where(visibleTo(reader));
    if (after) query.andWhere('(o.createdAt, o.id) < (:after0, :after1)', positionParameters(after));
    return summariesOf(query.orderBy('o.createdAt', 'DESC').addOrderBy('o.id', 'DESC').limit(limit));
  }

  /** The number of orders that the account may read. */
  async count(reader: OrderReader): Promise<number> {
    const [row] = await this.search<{ total: number }>(['count(*) AS total'], reader);
    return row!.total;
  }

  /** Those of the ids that the account may read, in any order, without payloads. */
  findByIds(ids: readonly number[], reader: OrderReader): Promise<OrderSummary[]> {
    return summariesOf(this.orders.createQueryBuilder('o').where({ ...visibleTo(reader), id: In([...ids]) }));
  }

  /** The payloads of orders that the caller may read, by their ids. */
  async payloadsOf(ids: readonly number[]): Promise<Map<number, string>> {
    const select = { id: true, payload: true };
    const orders = await this.orders.find({ select, where: { id: In([...ids]) } });
    return new Map(orders.map(({ id, payload }) => [id, payload]));
  }

  /** @throws AppError `NOT_FOUND`, also for an order that the account may not read */
  async findOne(id: number, reader: OrderReader): Promise<Order> {
    const order = await this.orders.findOneBy({ ...visibleTo(reader), id });
    if (!order) throw new AppError('NOT_FOUND', 'Order not found');
    return order;
  }

  /** Reads what may be all orders, without delaying other requests. */
  private search<Row>(
    [columns, end = '']: readonly [columns: string, end?: string],
    reader: OrderReader,
    parameters: Parameters = {},
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

async function summariesOf(query: SelectQueryBuilder<Order>): Promise<OrderSummary[]> {
  const { entities, raw } = await query
    .select(['o.id', 'o.accountId', 'o.status', 'o.createdAt', 'o.version'])
    .addSelect('octet_length(o.payload)', 'payload_bytes')
    .getRawAndEntities<{ payload_bytes: number }>();
  return entities.map((order, n) => Object.assign(order, { payloadBytes: raw[n]!.payload_bytes }));
}

/** The order of lists, for cursors. */
export const NEWEST_FIRST: Keyset<OrderSummary> = {
  name: 'orders',
  kinds: ['time', 'id'],
  positionOf: ({ createdAt, id }) => [createdAt.toISOString(), id],
};

/** Null if everyone may read everything. */
export type OrderReader = Account | null;

const visibleTo = (reader: OrderReader): FindOptionsWhere<Order> =>
  reader === null || reader.isStaff ? {} : { accountId: reader.id };
