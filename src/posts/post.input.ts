import { Field, InputType } from '@nestjs/graphql';
import { ApiProperty } from '@nestjs/swagger';
import { IsIn, ValidateIf } from 'class-validator';
import { OneOf, OptionalField } from '../platform/http/validation/fields.js';
import { PartialInputType } from '../platform/http/validation/partial-input.js';
import { Text } from '../platform/http/validation/text.js';
import { POST_STATUSES, type PostStatus } from './post.entity.js';
import { PostStatusEnum } from './post.view.js';

@InputType({ description: 'The fields of a new post.' })
export class CreatePostInput {
  @Field({ description: '1 to 200 characters.' })
  @Text({ min: 1, max: 200 })
  title!: string;

  @Field({ description: 'At least one character.' })
  @Text({ min: 1 })
  content!: string;

  /** Absent, null and empty mean `draft`. */
  @Field(() => PostStatusEnum, { nullable: true, description: 'Absent and null mean `draft`.' })
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
@InputType({ description: 'The fields to change; an absent or null field stays as it is.' })
export class UpdatePostInput extends PartialInputType(CreatePostInput, ['content', 'status']) {
  @Field(() => String, { nullable: true, description: 'Any text.' })
  @OptionalField()
  @Text()
  content?: string | null;

  @Field(() => PostStatusEnum, { nullable: true, description: 'Publishes or withdraws the post.' })
  @OptionalField()
  @OneOf(POST_STATUSES)
  status?: PostStatus | null;
}
