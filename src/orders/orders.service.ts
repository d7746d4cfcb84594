import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '../common/clock/clock.js';
import { AppError } from '../common/errors/errors.js';
import type { Page } from '../common/pagination/page.js';
import type { PageRequest } from '../common/pagination/page-request.js';
import { NO_ROW } from '../common/validation/id.js';
import { Order } from './order.entity.js';

@Injectable()
export class OrdersService {
  constructor(
    @InjectRepository(Order) private readonly orders: Repository<Order>,
    private readonly clock: Clock,
  ) {}

  /** Newest first. */
  async list(page: PageRequest): Promise<Page<Order>> {
    const total = await this.orders.count();
    const { limit, offset } = page;
    if (offset >= total) return page.of([], total);
    const order = { createdAt: 'DESC', id: 'DESC' } as const;
    return page.of(await this.orders.find({ order, skip: offset, take: limit }), total);
  }

  /** @throws AppError `NOT_FOUND` */
  async findOne(id: number): Promise<Order> {
    const order = id === NO_ROW ? null : await this.orders.findOneBy({ id });
    if (!order) throw new AppError('NOT_FOUND', 'Order not found');
    return order;
  }

  /** @param payload text of a JSON object */
  create(payload: string): Promise<Order> {
    return this.orders.save(this.orders.create({ status: 'created', payload, createdAt: this.clock.now() }));
  }
}
