import { domainToASCII } from 'node:url';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import { isEmailAddress } from '../platform/http/validation/fields.js';

/**
 * In UTF-16 units: an address has at most 254 characters once its domain is in ASCII. Longer text must not be normalized:
 * the time grows with the square of the length of a run of combining marks.
 */
const MAX_LENGTH = 320;

/**
 * The address as it is stored: trimmed, its domain in lower case and ASCII (IDNA, RFC 5891).
 * `undefined` for text that is not an address.
 */
export function normalizeEmail(text: string): string | undefined {
  const address = text.trim();
  if (address.length > MAX_LENGTH) return undefined;
  const at = address.lastIndexOf('@');
  const email = `${address.slice(0, at)}@${domainToASCII(address.slice(at + 1))}`;
  return at > 0 && isEmailAddress(email) ? email : undefined;
}

/** Characters that cannot be seen, or change how others look. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u;

/**
 * Like {@link normalizeEmail}, for an address that an account gets: also `undefined` for one whose local part looks like
 * another address, because it has compatibility forms of letters (NFKC) or invisible characters, is read as an encoded
 * word (RFC 2047), or is quoted: a mailbox has many quoted spellings.
 */
export function normalizeNewEmail(text: string): string | undefined {
  const email = normalizeEmail(text);
  const local = email?.slice(0, email.lastIndexOf('@')) ?? '';
  const isPlain = local === local.normalize('NFKC') && !INVISIBLE.test(local) && !/^(?:=\?|")/.test(local);
  return isPlain ? email : undefined;
}

/**
 * The key of an address: in lower case, composed (NFC). The lower case of sigma depends on its place in a word, and that
 * of some composed letters is not composed.
 */
export function emailKey(text: string): string {
  const address = normalizeEmail(text) ?? text.trim();
  // No account has it.
  if (address.length > MAX_LENGTH) return address;
  return address.normalize('NFC').toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}

/** Whether two addresses differ in the case of ASCII letters at most. */
export const isSameEmail = (a: string, b: string): boolean => lowerAscii(a) === lowerAscii(b);

const lowerAscii = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The field must be an e-mail address that an account may get. */
export const NewEmailAddress = (): PropertyDecorator =>
  addressField(
    normalizeNewEmail,
    'an e-mail address, without quotes, invisible characters or special forms of letters',
  );

/** The field must be an e-mail address. */
export const EmailAddress = (): PropertyDecorator => addressField(normalizeEmail, 'an e-mail address');

function addressField(normalize: typeof normalizeEmail, what: string): PropertyDecorator {
  const fault = (value: unknown): string | undefined => {
    if (typeof value !== 'string') return 'a string';
    if (normalizeEmail(value) === undefined) return 'an e-mail address';
    return normalize(value) === undefined ? what : undefined;
  };
  return applyDecorators(
    ApiProperty({ type: 'string', example: 'ada@example.com' }),
    ValidateBy({
      name: 'emailAddress',
      validator: {
        validate: (value) => fault(value) === undefined,
        defaultMessage: (args) => `$property must be ${fault(args?.value)}`,
      },
    }),
  );
}
