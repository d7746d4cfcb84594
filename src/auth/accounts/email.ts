import { domainToASCII } from 'node:url';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { isEmailAddress } from '../../common/validation/fields.js';

/**
 * The address as it is stored: trimmed, its domain in lower case and ASCII (IDNA, RFC 5891).
 * `undefined` for text that is not an address.
 */
export function normalizeEmail(text: string): string | undefined {
  const address = text.trim();
  const at = address.lastIndexOf('@');
  const email = `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`;
  return at > 0 && isEmailAddress(email) ? email : undefined;
}

/** The key of an address: in lower case, composed (NFC). */
export function emailKey(text: string): string {
  return (normalizeEmail(text) ?? text.trim()).normalize('NFC').toLowerCase();
}

/** The field must be an e-mail address. */
export const EmailAddress = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: 'string', example: 'ada@example.com' }),
    ValidateBy({
      name: 'emailAddress',
      validator: {
        validate: (value) => typeof value === 'string' && normalizeEmail(value) !== undefined,
        defaultMessage: (args) =>
          `$property must be ${typeof args?.value === 'string' ? 'an e-mail address' : 'a string'}`,
      },
    }),
  );
