import { ApiProperty, OmitType } from '@nestjs/swagger';
import { IsIn, ValidateIf } from 'class-validator';
import { OneOf, Optional } from '../common/validation/fields.js';
import { PartialInput } from '../common/validation/partial-input.js';
import { Text } from '../common/validation/text.js';
import { POST_STATUSES, type PostStatus } from './post.entity.js';

export class CreatePostInput {
  @Text({ min: 1, max: 200 })
  title!: string;

  @Text({ min: 1 })
  content!: string;

  /** Absent, null and empty mean `draft`. */
  @ValidateIf((_, status) => status !== undefined && status !== null && status !== '')
  @IsIn(POST_STATUSES)
  @ApiProperty({
    type: 'string',
    enum: [...POST_STATUSES, ''],
    nullable: true,
    required: false,
    // A `default` would make generators require the field.
    description: 'Absent, null and empty mean `draft`.',
  })
  status?: PostStatus | '' | null;
}

/** Absent and null leave a field unchanged. */
export class UpdatePostInput extends PartialInput(OmitType(CreatePostInput, ['content', 'status'])) {
  @Optional()
  @Text()
  content?: string | null;

  @Optional()
  @OneOf(POST_STATUSES)
  status?: PostStatus | null;
}
