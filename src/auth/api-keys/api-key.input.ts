import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { OneOf, Optional } from '../../common/validation/fields.js';
import { Text } from '../../common/validation/text.js';
import { API_KEY_SCOPES, type ApiKeyScope } from '../access/index.js';
import { RecentInput } from '../logins/index.js';

/** RFC 3339, section 5.6. */
const TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/** Later times have five digits for their year, which the databases compare differently. */
const LATEST = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** The field must be a time with its offset from UTC. */
const Time = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: 'string', format: 'date-time', example: '2030-01-01T00:00:00Z' }),
    ValidateBy({
      name: 'time',
      validator: {
        validate: (value) => typeof value === 'string' && TIME.test(value) && Date.parse(value) <= LATEST,
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
