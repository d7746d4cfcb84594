import { argon2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(argon2);

/** OWASP's least for argon2id: memory in KiB, passes over it, lanes. About 30 ms of one core. */
const CURRENT: Parameters = { m: 19_456, t: 2, p: 1 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;

interface Parameters {
  readonly m: number;
  readonly t: number;
  readonly p: number;
}

interface Stored {
  readonly parameters: Parameters;
  readonly salt: Buffer;
  readonly hash: Buffer;
}

/** Hashes with argon2id (RFC 9106) and a fresh salt. @returns a PHC string, which names its parameters */
export async function hashPassword(password: string, parameters = CURRENT): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return format({ parameters, salt, hash: await compute(password, salt, parameters, HASH_BYTES) });
}

/** @param stored a PHC string of {@link hashPassword}, by whatever parameters */
export async function isPasswordOf(stored: string, password: string): Promise<boolean> {
  const { parameters, salt, hash } = parse(stored);
  return timingSafeEqual(hash, await compute(password, salt, parameters, hash.length));
}

/** Whether the stored hash was made with less work than is asked for now. */
export function isOutdated(stored: string): boolean {
  const { m, t, p } = parse(stored).parameters;
  return m < CURRENT.m || t < CURRENT.t || p < CURRENT.p;
}

/** The hash of no password: comparing with it takes as long as with a real one, and always fails. */
export const NO_PASSWORD = format({
  parameters: CURRENT,
  salt: Buffer.alloc(SALT_BYTES),
  hash: Buffer.alloc(HASH_BYTES),
});

function compute(message: string, nonce: Buffer, { m, t, p }: Parameters, tagLength: number) {
  return derive('argon2id', { message, nonce, memory: m, passes: t, parallelism: p, tagLength });
}

// The PHC string format, in which argon2 hashes are kept everywhere; its base64 has no padding.

function format({ parameters: { m, t, p }, salt, hash }: Stored): string {
  return `$argon2id$v=19$m=${m},t=${t},p=${p}$${base64(salt)}$${base64(hash)}`;
}

function parse(stored: string): Stored {
  const fields = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(stored);
  // The value is a secret, and so not a part of the message.
  if (!fields) throw new TypeError('A stored password hash is not one of argon2id');
  const [, m, t, p, salt, hash] = fields;
  return {
    parameters: { m: Number(m), t: Number(t), p: Number(p) },
    salt: Buffer.from(salt!, 'base64'),
    hash: Buffer.from(hash!, 'base64'),
  };
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '');
}
