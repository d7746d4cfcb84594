import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { LessThan, MoreThan, type Repository } from 'typeorm';
import { AppError } from '../../../../src/platform/http/errors/errors.js';
import type { Keyset, KeysetRequest } from '../../../../src/platform/http/pages/keyset.js';
import { CursorPage, type Page } from '../../../../src/platform/http/pages/page.js';
import { changesOf } from '../../../../src/platform/database/columns.js';
import { Transactions } from '../../../../src/platform/database/transactions.js';
import { Changes } from '../../../../src/platform/changes/index.js';
import { Task } from './task.entity.js';
import type { CreateTaskInput, UpdateTaskInput } from './task.input.js';
import { type ListTasksQuery, orderOf, type TaskFilter, whereOf } from './task.query.js';

@Injectable()
export class TasksService {
  constructor(
    @InjectRepository(Task) private readonly tasks: Repository<Task>,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
  ) {}

  async list(query: ListTasksQuery): Promise<Page<Task>> {
    const [where, order] = [whereOf(query), orderOf(query)];
    const total = await this.count(query);
    const { limit: take, offset: skip } = query;
    return query.of(skip < total ? await this.tasks.find({ where, order, skip, take }) : [], total);
  }

  /** @throws AppError `INVALID_CURSOR` */
  async listByCursor(query: ListTasksQuery): Promise<CursorPage<Task>> {
    const { afterId, limit } = query;
    const where = { ...whereOf(query), id: MoreThan(afterId) };
    return CursorPage.of(await this.tasks.find({ where, order: { id: 'ASC' }, take: limit + 1 }), limit);
  }

  /** The newest first, after a position of {@link NEWEST_FIRST}. */
  listAfter(filter: TaskFilter, { after, limit }: KeysetRequest): Promise<Task[]> {
    const where = { ...whereOf(filter), ...(after && { id: LessThan(Number(after[0])) }) };
    return this.tasks.find({ where, order: { id: 'DESC' }, take: limit });
  }

  count(filter: TaskFilter): Promise<number> {
    return this.tasks.countBy(whereOf(filter));
  }

  /** @throws AppError `NOT_FOUND` */
  async get(id: number): Promise<Task> {
    const task = await this.tasks.findOneBy({ id });
    if (!task) throw new AppError('NOT_FOUND', 'Task not found');
    return task;
  }

  create(input: CreateTaskInput): Promise<Task> {
    return this.transactions.run(async () => {
      const task = await this.tasks.save(this.tasks.create(input));
      await this.changes.record({ subject: `/v1/tasks/${task.id}` });
      return task;
    });
  }

  /** @throws AppError `NOT_FOUND` */
  update(id: number, input: UpdateTaskInput): Promise<Task> {
    const changes = changesOf(this.tasks, input);
    return this.transactions.run(async () => {
      // An update without columns is an error.
      if (Object.keys(changes).length > 0) await this.tasks.update({ id }, changes);
      const task = await this.get(id);
      await this.changes.record({ subject: `/v1/tasks/${id}` });
      return task;
    });
  }
}

/** The order of lists, for the cursors of GraphQL. */
export const NEWEST_FIRST: Keyset<Task> = { name: 'tasks', kinds: ['id'], positionOf: ({ id }) => [id] };
