import { ApiProperty } from '@nestjs/swagger';
import { IsInt, Max, Min } from 'class-validator';
import { OneOf, OptionalField } from '../../../../src/platform/http/validation/fields.js';
import { PartialInput } from '../../../../src/platform/http/validation/partial-input.js';
import { Text } from '../../../../src/platform/http/validation/text.js';
import { TASK_STATUSES } from './task.entity.js';

export class CreateTaskInput {
  @Text({ min: 1, max: 200 })
  title!: string;

  @OneOf(TASK_STATUSES)
  status!: (typeof TASK_STATUSES)[number];

  @OptionalField()
  @IsInt()
  @Min(1)
  @Max(5)
  @ApiProperty({ type: 'integer', minimum: 1, maximum: 5 })
  priority?: number | null;
}

/** An absent field stays as it is. Null clears `priority`, and leaves the others unchanged. */
export class UpdateTaskInput extends PartialInput(CreateTaskInput) {}
