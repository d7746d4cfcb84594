import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { isEmail, ValidateBy } from 'class-validator';
import { isStorable } from './text.js';

/** RFC 5321: 64 octets for the mailbox and 255 for the domain. */
const MAX_LENGTH = 320;

/**
 * Whether the text is an e-mail address (RFC 5321 and internationalized ones). Length and characters are checked
 * first, because the parser of addresses throws at lone surrogates.
 */
export const isEmailAddress = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= MAX_LENGTH && isStorable(value) && isEmail(value);

/** The field must be an e-mail address, or empty. */
export const EmailAddressOrEmpty = (): PropertyDecorator =>
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
