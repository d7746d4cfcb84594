import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { OneOf, Optional } from '../../platform/http/validation/fields.js';
import { Text } from '../../platform/http/validation/text.js';
import { parseTime } from '../../platform/http/time.js';
import { API_KEY_SCOPES, type ApiKeyScope, RecentInput } from '../../platform/access/index.js';

/** The field must be a time with its offset from UTC. */
const Time = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: 'string', format: 'date-time', example: '2030-01-01T00:00:00Z' }),
    ValidateBy({
      name: 'time',
      validator: {
        validate: (value) => typeof value === 'string' && parseTime(value) !== undefined,
        defaultMessage: () => '$property must be a time such as 2030-01-01T00:00:00Z (RFC 3339)',
      },
    }),
  );

export class CreateApiKeyInput extends RecentInput {
  @Text({ min: 1, max: 150 })
  name!: string;

  @OneOf(API_KEY_SCOPES)
  scope!: ApiKeyScope;

  /** Absent and null: it does not expire. */
  @Optional()
  @Time()
  expires_at?: string | null;
}
