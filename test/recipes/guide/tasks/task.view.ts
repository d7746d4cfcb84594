import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property } from '../../../../src/platform/http/openapi/properties.js';
import { type Task, TASK_STATUSES } from './task.entity.js';

@ApiSchema({ name: 'Task' })
export class TaskView {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ example: 'Water the plants' })
  readonly title!: string;

  @ApiProperty({ enum: TASK_STATUSES })
  readonly status!: string;

  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'From 1, the most important, to 5.',
    example: 1,
  })
  readonly priority!: number | null;
}

export const toTaskView = ({ id, title, status, priority }: Task): TaskView => ({
  id,
  title,
  status,
  priority,
});
