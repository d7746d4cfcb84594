import { applyDecorators } from '@nestjs/common';
import { Field, InputType } from '@nestjs/graphql';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { isEmailAddress, OptionalField } from '../platform/http/validation/fields.js';
import { PartialInputType } from '../platform/http/validation/partial-input.js';
import { Text } from '../platform/http/validation/text.js';

/** The field must be an e-mail address, or empty. */
const EmailAddressOrEmpty = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: 'string', description: 'An e-mail address, or empty.', example: 'ada@example.com' }),
    ValidateBy({
      name: 'emailAddressOrEmpty',
      validator: {
        validate: (value) => value === '' || isEmailAddress(value),
        defaultMessage: () => '$property must be an e-mail address, or empty',
      },
    }),
  );

@InputType({ description: 'The fields of a new user.' })
export class CreateUserInput {
  @Field({ description: '1 to 150 characters.' })
  @Text({ min: 1, max: 150 })
  name!: string;

  /** Over REST it may be absent or null, which means empty. */
  @Field(() => String, { description: 'An address, or empty.' })
  @OptionalField()
  @EmailAddressOrEmpty()
  email?: string | null;
}

/** Absent and null leave a field unchanged. */
@InputType({ description: 'The fields to change; an absent or null field stays as it is.' })
export class UpdateUserInput extends PartialInputType(CreateUserInput) {}
