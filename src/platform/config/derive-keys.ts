import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { Config } from './config.js';

/** The keys of one purpose during a rotation of `JWT_SECRET`. */
export interface Keys {
  /** Signs. */
  readonly current: KeyObject;
  /** Verify: the current one first, then the one of `JWT_SECRET_PREVIOUS`, if that is set. */
  readonly accepted: readonly [KeyObject, ...KeyObject[]];
}

/** Derives the keys when they are first used: few commands need them, and the others run without `JWT_SECRET`. */
export function deriveKeys(config: Pick<Config, 'jwtSecret' | 'jwtSecretPrevious'>, purpose: string): Keys {
  let keys: Keys['accepted'] | undefined;
  const derived = () => {
    const { jwtSecret, jwtSecretPrevious: previous } = config;
    const others = previous === undefined ? [] : [deriveKey(previous, purpose)];
    return (keys ??= [deriveKey(jwtSecret, purpose), ...others]);
  };
  return {
    get current() {
      return derived()[0];
    },
    get accepted() {
      return derived();
    },
  };
}

/**
 * Derives a key for one purpose (HKDF, RFC 5869), so that a signature for one is invalid for another. With a key in a
 * `Buffer`, Node would take five times as long for a signature.
 */
const deriveKey = (secret: string, purpose: string): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, '', purpose, 32)));
