import { ApiProperty, PickType } from '@nestjs/swagger';
import { CheckedBy } from '../platform/http/validation/further-rules.js';
import { ListOf, OptionalField, TrueOrFalse } from '../platform/http/validation/fields.js';
import { PartialInput } from '../platform/http/validation/partial-input.js';
import { Text } from '../platform/http/validation/text.js';
import { WebhookRules } from './webhook-rules.js';
import { WebhookTypesProperty } from './webhook.view.js';

/** More than the number of types. */
const MAX_TYPES = 100;

@CheckedBy(WebhookRules)
export class CreateWebhookInput {
  @ApiProperty({ example: 'https://receiver.example.com/events' })
  @Text({ min: 1, max: 2048 })
  url!: string;

  @WebhookTypesProperty(['*'])
  @ListOf('event type', { max: MAX_TYPES })
  types!: string[];

  @OptionalField()
  @Text({ max: 200 })
  description?: string | null;
}

/** Absent and null leave a field unchanged. */
@CheckedBy(WebhookRules)
export class UpdateWebhookInput extends PartialInput(
  PickType(CreateWebhookInput, ['url', 'types', 'description']),
) {
  @OptionalField()
  @TrueOrFalse()
  active?: boolean | null;
}
