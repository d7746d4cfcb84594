import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Config } from './config.js';

/** The keys of one purpose during a rotation of `JWT_SECRET`. */
export interface Keys {
  /** Signs. */
  readonly current: KeyObject;
  /** Verify: the current one first, then the one of `JWT_SECRET_PREVIOUS`, if that is set. */
  readonly accepted: readonly [KeyObject, ...KeyObject[]];
}

export function deriveKeys(
  { jwtSecret, jwtSecretPrevious }: Pick<Config, 'jwtSecret' | 'jwtSecretPrevious'>,
  purpose: string,
): Keys {
  const current = deriveKey(jwtSecret, purpose);
  const previous = jwtSecretPrevious === undefined ? [] : [deriveKey(jwtSecretPrevious, purpose)];
  return { current, accepted: [current, ...previous] };
}

/**
 * Derives a key for one purpose (HKDF, RFC 5869), so that a signature for one is invalid for another. With a key in a
 * `Buffer`, Node would take five times as long for a signature.
 */
const deriveKey = (secret: string, purpose: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)));
