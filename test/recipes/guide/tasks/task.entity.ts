import { Entity, Index } from 'typeorm';
import { IdColumn, IntegerColumn, TextColumn } from '../../../../src/platform/database/columns.js';

export const TASK_STATUSES = ['open', 'done'] as const;

@Entity('tasks')
@Index('tasks_priority', ['status', 'priority', 'id'])
export class Task {
  @IdColumn()
  id!: number;

  @TextColumn('title')
  title!: string;

  @TextColumn('status')
  status!: (typeof TASK_STATUSES)[number];

  /** From 1, the most important. */
  @IntegerColumn('priority', { nullable: true })
  priority!: number | null;
}
