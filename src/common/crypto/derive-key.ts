import { hkdfSync } from 'node:crypto';

/** Derives a key for one purpose (HKDF, RFC 5869), so that a signature for one is invalid for another. */
export const deriveKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
