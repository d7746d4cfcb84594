import { Field, ID, Int, ObjectType } from '@nestjs/graphql';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property } from '../../../../src/platform/http/openapi/properties.js';
import { type Task, TASK_STATUSES } from './task.entity.js';

@ApiSchema({ name: 'Task' })
@ObjectType('Task', { description: 'A task.' })
export class TaskView {
  @Field(() => ID, { description: 'Identifies the task.' })
  @Int64Property({ example: 1 })
  readonly id!: number;

  @Field({ description: 'What to do.' })
  @ApiProperty({ example: 'Water the plants' })
  readonly title!: string;

  @Field({ description: '`open` or `done`.' })
  @ApiProperty({ enum: TASK_STATUSES })
  readonly status!: string;

  @Field(() => Int, { nullable: true, description: 'From 1, the most important, to 5.' })
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
