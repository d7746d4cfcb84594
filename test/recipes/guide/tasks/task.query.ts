import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import type { FindOptionsOrder, FindOptionsWhere } from 'typeorm';
import { PageOrCursorRequest } from '../../../../src/platform/http/pages/page-request.js';
import { type Task, TASK_STATUSES } from './task.entity.js';

/** The columns that a client may sort by: never take the name of a column from the query itself. */
const SORTABLE = ['id', 'title', 'priority'] as const;
const DIRECTIONS = ['asc', 'desc'] as const;

/** An absent criterion has no effect. */
export interface TaskFilter {
  readonly status?: (typeof TASK_STATUSES)[number] | null | undefined;
  readonly priority?: number | null | undefined;
}

/** The query of a list. Any other value is 422, except for the page. A list by cursor has the order of the ids. */
export class ListTasksQuery extends PageOrCursorRequest implements TaskFilter {
  @IsOptional()
  @IsIn(TASK_STATUSES)
  @ApiPropertyOptional({ enum: TASK_STATUSES })
  status?: (typeof TASK_STATUSES)[number];

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(5)
  @ApiPropertyOptional({ type: 'integer', minimum: 1, maximum: 5 })
  priority?: number;

  @IsIn(SORTABLE)
  @ApiPropertyOptional({ enum: SORTABLE, default: 'id' })
  sort_by: (typeof SORTABLE)[number] = 'id';

  @IsIn(DIRECTIONS)
  @ApiPropertyOptional({ enum: DIRECTIONS, default: 'desc' })
  sort_dir: (typeof DIRECTIONS)[number] = 'desc';
}

export const whereOf = ({ status, priority }: TaskFilter): FindOptionsWhere<Task> => ({
  ...(status && { status }),
  ...(priority && { priority }),
});

/** The databases disagree on the place of null. The id makes the order of equal values the same on every page. */
export const orderOf = ({
  sort_by: column,
  sort_dir: direction,
}: ListTasksQuery): FindOptionsOrder<Task> => ({
  [column]: { direction, nulls: 'LAST' },
  ...(column !== 'id' && { id: direction }),
});
