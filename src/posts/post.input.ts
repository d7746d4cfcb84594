import { PartialType, PickType } from '@nestjs/mapped-types';
import { IsIn, IsOptional, ValidateIf } from 'class-validator';
import { Text } from '../common/validation/text.js';
import { POST_STATUSES, type PostStatus } from './post.entity.js';

export class CreatePostInput {
  @Text({ min: 1, max: 200 })
  title!: string;

  @Text({ min: 1 })
  content!: string;

  /** Absent, null and empty are `draft`. */
  @ValidateIf((_, status) => status !== undefined && status !== null && status !== '')
  @IsIn(POST_STATUSES)
  status?: PostStatus | '' | null;
}

/** Absent and null leave a field as it is. */
export class UpdatePostInput extends PartialType(PickType(CreatePostInput, ['title'])) {
  @IsOptional()
  @Text()
  content?: string | null;

  @IsOptional()
  @IsIn(POST_STATUSES)
  status?: PostStatus | null;
}
