import { ApiProperty, PickType } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsBoolean, IsString } from 'class-validator';
import { Optional } from '../common/validation/optional.js';
import { PartialInput } from '../common/validation/partial-input.js';
import { Text } from '../common/validation/text.js';

/** More than the number of types. */
const MAX_TYPES = 100;

export class CreateWebhookInput {
  @ApiProperty({ example: 'https://receiver.example.com/events' })
  @Text({ min: 1, max: 2048 })
  url!: string;

  @ApiProperty({ type: [String], description: 'Types of events, or `*` alone.', example: ['*'] })
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(MAX_TYPES)
  @IsString({ each: true })
  types!: string[];

  @Optional()
  @Text({ max: 200 })
  description?: string | null;
}

/** Absent and null leave a field unchanged. */
export class UpdateWebhookInput extends PartialInput(
  PickType(CreateWebhookInput, ['url', 'types', 'description']),
) {
  @Optional()
  @IsBoolean()
  @ApiProperty({ type: 'boolean' })
  active?: boolean | null;
}
