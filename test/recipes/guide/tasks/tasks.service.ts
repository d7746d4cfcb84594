import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { AppError } from '../../../../src/platform/http/errors/errors.js';
import type { Page } from '../../../../src/platform/http/pages/page.js';
import type { PageRequest } from '../../../../src/platform/http/pages/page-request.js';
import { changesOf } from '../../../../src/platform/database/columns.js';
import { Transactions } from '../../../../src/platform/database/transactions.js';
import { Changes } from '../../../../src/platform/changes/index.js';
import { Task } from './task.entity.js';
import type { CreateTaskInput, UpdateTaskInput } from './task.input.js';
import { type ListTasksQuery, orderOf, whereOf } from './task.query.js';

@Injectable()
export class TasksService {
  constructor(
    @InjectRepository(Task) private readonly tasks: Repository<Task>,
    private readonly transactions: Transactions,
    private readonly changes: Changes,
  ) {}

  async list(query: ListTasksQuery, page: PageRequest): Promise<Page<Task>> {
    const [where, order] = [whereOf(query), orderOf(query)];
    const total = await this.tasks.countBy(where);
    const { limit: take, offset: skip } = page;
    return page.of(skip < total ? await this.tasks.find({ where, order, skip, take }) : [], total);
  }

  /** @throws AppError `NOT_FOUND` */
  async findOne(id: number): Promise<Task> {
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
      const task = await this.findOne(id);
      await this.changes.record({ subject: `/v1/tasks/${id}` });
      return task;
    });
  }
}
