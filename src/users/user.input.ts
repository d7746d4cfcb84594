import { Field, InputType } from '@nestjs/graphql';
import { EmailAddressOrEmpty, Optional } from '../platform/http/validation/fields.js';
import { PartialInputType } from '../platform/http/validation/partial-input.js';
import { Text } from '../platform/http/validation/text.js';

@InputType({ description: 'The fields of a new user.' })
export class CreateUserInput {
  @Field({ description: '1 to 150 characters.' })
  @Text({ min: 1, max: 150 })
  name!: string;

  /** Over REST it may be absent or null, which means empty. */
  @Field(() => String, { description: 'An address, or empty.' })
  @Optional()
  @EmailAddressOrEmpty()
  email?: string | null;
}

/** Absent and null leave a field unchanged. */
@InputType({ description: 'The fields to change; an absent or null field stays as it is.' })
export class UpdateUserInput extends PartialInputType(CreateUserInput) {}
