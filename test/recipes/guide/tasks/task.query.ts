import { applyDecorators } from '@nestjs/common';
import { type FindOptionsOrder, type FindOptionsWhere, In } from 'typeorm';
import { firstValue, type QueryParameters } from '../../../../src/platform/http/query.js';
import { QueryParameter } from '../../../../src/platform/http/openapi/queries.js';
import { UNKNOWN_ID, toId } from '../../../../src/platform/http/validation/id.js';
import { type Task, TASK_STATUSES } from './task.entity.js';

/** The columns that a client may sort by: never take the name of a column from the query itself. */
const SORTABLE = ['id', 'title', 'priority'] as const;

export interface TaskList {
  readonly where: FindOptionsWhere<Task>;
  readonly order: FindOptionsOrder<Task>;
}

/** What a query lists. A value that no task has matches nothing; an unknown order is replaced by the default. */
export function taskList(query: QueryParameters): TaskList {
  const status = firstValue(query, 'status');
  const priority = firstValue(query, 'priority');
  const sortBy = SORTABLE.find((column) => column === firstValue(query, 'sort_by')) ?? 'id';
  const direction = firstValue(query, 'sort_dir')?.toUpperCase() === 'ASC' ? 'ASC' : 'DESC';
  return {
    where: {
      ...(status && { status: In(TASK_STATUSES.filter((known) => known === status)) }),
      ...(priority && { priority: toId(priority) ?? UNKNOWN_ID }),
    },
    // The databases disagree on the place of null. The id makes the order of equal values the same on every page.
    order: { [sortBy]: { direction, nulls: 'LAST' }, ...(sortBy !== 'id' && { id: direction }) },
  };
}

/** The reference of the parameters. */
export const TaskListQuery = (): MethodDecorator =>
  applyDecorators(
    QueryParameter('status', 'open or done; any other value returns an empty list.', { type: 'string' }),
    QueryParameter('priority', 'From 1 to 5; any other value returns an empty list.', { type: 'integer' }),
    QueryParameter('sort_by', 'id, title or priority; any other value means id.', {
      type: 'string',
      default: 'id',
    }),
    QueryParameter('sort_dir', 'ASC or DESC, in any letter case; any other value means DESC.', {
      type: 'string',
      default: 'DESC',
    }),
  );
