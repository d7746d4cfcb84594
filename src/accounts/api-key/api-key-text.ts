import { randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const START = 'psk_';
const RANDOM_LENGTH = 40;
const CHECKSUM_LENGTH = 6;

/** The length of the part by which its owner recognizes a key. */
export const KEY_PREFIX_LENGTH = 8;

const KEY = /^psk_[\dA-Za-z]{46}$/;

/** A new key: a prefix that scanners of leaked secrets find, 238 random bits, and a checksum. */
export function newKey(): string {
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('');
  return START + random + checksumOf(random);
}

/** Whether the token is meant as an API key. */
export const isApiKey = (token: string): boolean => token.startsWith(START);

/** Whether the checksum is right: a mistyped key, or an invented one, never reaches the database. */
export function isWellFormed(key: string): boolean {
  const random = key.slice(START.length, -CHECKSUM_LENGTH);
  return KEY.test(key) && key.endsWith(checksumOf(random));
}

/** CRC-32 in base 62, of six characters. */
function checksumOf(random: string): string {
  let rest = crc32(random);
  let text = '';
  for (let n = 0; n < CHECKSUM_LENGTH; n++) {
    text = ALPHABET[rest % ALPHABET.length]! + text;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return text;
}
