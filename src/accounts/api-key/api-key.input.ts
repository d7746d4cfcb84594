import { OneOf, OptionalField, Time } from '../../platform/http/validation/fields.js';
import { Text } from '../../platform/http/validation/text.js';
import { API_KEY_SCOPES, type ApiKeyScope, RecentInput } from '../../platform/access/index.js';

export class CreateApiKeyInput extends RecentInput {
  @Text({ min: 1, max: 150 })
  name!: string;

  @OneOf(API_KEY_SCOPES)
  scope!: ApiKeyScope;

  /** Absent and null: it does not expire. */
  @OptionalField()
  @Time()
  expires_at?: Date | null;
}
