import { randomBytes } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { startApi, startApiOn, type TestApi } from './api.js';
import { createStore, STORES } from './stores.js';

const KEY = randomBytes(32);
const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)];

/** An encrypted value: the algorithm, the format, the key and the text. */
const ENCRYPTED = /^\$aes-256-gcm\$v1\$([\da-f]{16})\$[\w-]+$/;

/** The secrets of a module that are stored encrypted. */
interface Secrets {
  /** Stores some. @returns one of them as text */
  readonly fill: (api: TestApi) => Promise<string>;
  /** Does what needs all stored secrets. */
  readonly works: (api: TestApi, secret: string) => Promise<boolean>;
  /** Does the same while they cannot be read. @returns whether it fails as it must */
  readonly fails: (api: TestApi) => Promise<boolean>;
  readonly table: string;
  readonly columns: readonly string[];
}

/** Tests that secrets are encrypted, and what happens to them when the keys change, on each database. */
export function describeStoredSecrets(title: string, { fill, works, fails, table, columns }: Secrets): void {
  const stored = async (api: TestApi): Promise<string[]> => {
    const rows = await api.rows.all<Record<string, string>>(`SELECT ${columns.join(', ')} FROM ${table}`);
    return rows.flatMap((row) => Object.values(row));
  };
  const keysOf = async (api: TestApi) =>
    new Set((await stored(api)).map((value) => ENCRYPTED.exec(value)?.[1]));

  describe.each(STORES)(`${title} on %s`, (store) => {
    it('are encrypted, go on working with a former key, and are stored under the current one when they are used', async () => {
      const testStore = await createStore(store);
      let api = await startApiOn({ ...testStore.environment, JWT_SECRET: OLD });
      const secret = await fill(api);
      const [derived, ...others] = await keysOf(api);
      expect([derived, others]).toEqual([expect.any(String), []]);
      expect((await stored(api)).join()).not.toContain(secret);

      const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
      await api.restart({ encryptionKey: KEY });
      expect(warn.mock.calls).toEqual(
        columns.map((column) => [
          `1 of ${table}.${column} need the former key ${derived}: each is encrypted again when it is used`,
        ]),
      );
      expect(await keysOf(api)).toEqual(new Set([derived]));
      expect(await works(api, secret)).toBe(true);
      const [own, ...more] = await keysOf(api);
      expect([own, more]).toEqual([expect.not.stringMatching(derived!), []]);

      // The former key is not needed any more.
      warn.mockClear();
      await api.restart({ encryptionKey: KEY, jwtSecret: NEW });
      expect(warn).not.toHaveBeenCalled();
      expect(await works(api, secret)).toBe(true);
      // From a key of its own to the derived one, and to that of another secret.
      await api.restart({ encryptionKey: undefined, encryptionKeyPrevious: KEY, jwtSecret: NEW });
      expect(await works(api, secret)).toBe(true);
      await api.restart({ encryptionKeyPrevious: undefined, jwtSecret: OLD, jwtSecretPrevious: NEW });
      expect(await works(api, secret)).toBe(true);
      expect(await keysOf(api)).toEqual(new Set([derived]));
      warn.mockRestore();
      await api.app.close();
      await testStore.remove();
    });

    it.each([
      [
        'no key decrypts them',
        async () => undefined,
        /^1 of \w+\.\w+ need the key [\da-f]{16}, which is not/,
      ],
      [
        'they are not encrypted',
        (api: TestApi) =>
          api.rows.execute(
            `UPDATE ${table} SET ${columns.map((column) => `${column} = 'JBSWY3DPEHPK3PXP'`).join(', ')}`,
          ),
        /^1 of \w+\.\w+ are not encrypted, so they are not used$/,
      ],
    ])('are an error with a sentence in the log when %s, and never used', async (_, change, sentence) => {
      let api = await startApi(store, { JWT_SECRET: OLD });
      await fill(api);
      await change(api);
      const before = await stored(api);
      const error = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
      await api.restart({ jwtSecret: NEW });
      expect(error.mock.calls).toEqual(columns.map(() => [expect.stringMatching(sentence)]));

      expect(await fails(api)).toBe(true);

      expect(await stored(api)).toEqual(before);
      error.mockRestore();
      await api.stop();
    });
  });
}
