import { describe, expect, it } from '@jest/globals';
import { hashPassword, isOutdated, isPasswordOf, NO_PASSWORD } from './argon2.js';

/** Of the password `x`, made by another implementation (RustCrypto's). */
const FOREIGN =
  '$argon2id$v=19$m=19456,t=2,p=1$VEQzZf7BvJlbUO+d8T1RlQ$j+MpHk5Xv33KZt+e2VJ1U8wwSrVvPxoQtvxo294VQPM';

describe('argon2', () => {
  it('hashes with a fresh salt, to what other implementations can read', async () => {
    const [one, two] = [await hashPassword('pass'), await hashPassword('pass')];

    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    expect(one).not.toBe(two);
    expect(await isPasswordOf(one, 'pass')).toBe(true);
    expect(await isPasswordOf(FOREIGN, 'x')).toBe(true);
  });

  it('tells passwords apart that differ in one character, in case or in what is unseen', async () => {
    const stored = await hashPassword('Pass word\u00e9');

    for (const other of ['pass word\u00e9', 'Pass word', 'Pass word\u00e9 ', 'Pass worde\u0301', '']) {
      expect(await isPasswordOf(stored, other)).toBe(false);
    }
  });

  it('has a hash that no password fits', async () => {
    for (const password of ['', 'x', '\0']) expect(await isPasswordOf(NO_PASSWORD, password)).toBe(false);
  });

  it('knows a hash that was made with less work, and still reads it', async () => {
    const weak = await hashPassword('pass', { m: 1024, t: 1, p: 1 });

    expect(isOutdated(weak)).toBe(true);
    expect(await isPasswordOf(weak, 'pass')).toBe(true);
    expect(isOutdated(await hashPassword('pass'))).toBe(false);
  });

  it('does not show a stored value that is no hash', async () => {
    await expect(isPasswordOf('plaintext', 'x')).rejects.toThrow(/^((?!plaintext).)*$/);
  });
});
