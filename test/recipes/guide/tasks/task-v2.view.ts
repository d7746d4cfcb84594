import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Int64Property } from '../../../../src/platform/http/openapi/properties.js';
import type { Task } from './task.entity.js';

/** A task of version 2: `done` instead of `status`. */
@ApiSchema({ name: 'TaskV2' })
export class TaskV2View {
  @Int64Property({ example: 1 })
  readonly id!: number;

  @ApiProperty({ example: 'Water the plants' })
  readonly title!: string;

  @ApiProperty({ example: false })
  readonly done!: boolean;
}

export const toTaskV2View = ({ id, title, status }: Task): TaskV2View => ({
  id,
  title,
  done: status === 'done',
});
