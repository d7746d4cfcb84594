import { hkdfSync } from 'node:crypto';

/** A key of its own for each purpose (HKDF, RFC 5869), so that what one signs is no good for another. */
export const deriveKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
