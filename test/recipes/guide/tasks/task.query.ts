import { ApiPropertyOptional } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import { IsIn, IsInt, IsOptional, Max, Min } from 'class-validator';
import type { FindOptionsOrder, FindOptionsWhere } from 'typeorm';
import { type Task, TASK_STATUSES } from './task.entity.js';

/** The columns that a client may sort by: never take the name of a column from the query itself. */
const SORTABLE = ['id', 'title', 'priority'] as const;
const DIRECTIONS = ['asc', 'desc'] as const;

/** The query of a list. Any other value is 422. */
export class ListTasksQuery {
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

export const whereOf = ({ status, priority }: ListTasksQuery): FindOptionsWhere<Task> => ({
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
