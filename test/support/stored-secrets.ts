import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { startApi, startApiOn, type TestApi } from './api.js';
import { runCommand } from './command.js';
import { createStore, STORES } from './stores.js';

const [FIRST, SECOND] = [randomBytes(32), randomBytes(32)];
const [OLD, NEW] = ['o'.repeat(32), 'n'.repeat(32)];

/** An encrypted value: the algorithm, the format, the key and the text. */
export const ENCRYPTED = /^\$aes-256-gcm\$v1\$[\da-f]{16}\$[\w-]+$/;

/** The secrets of a module that are stored encrypted. */
interface Secrets {
  /** Stores some. @returns one of them as text */
  readonly fill: (api: TestApi) => Promise<string>;
  /** Does what needs the stored secrets, and changes none of them. */
  readonly use: (api: TestApi, secret: string) => Promise<unknown>;
  /** Their values in the database. */
  readonly stored: (api: TestApi) => Promise<string[]>;
  readonly count: number;
  /** Their columns, as a regular expression. */
  readonly columns: string;
}

/** Tests that secrets are encrypted, and what happens to them when the keys change, on each database. */
export function describeStoredSecrets(title: string, { fill, use, stored, count, columns }: Secrets): void {
  describe.each(STORES)(`${title} on %s`, (store) => {
    it('are encrypted, go on working with the previous key, and a command brings them to the current one', async () => {
      const testStore = await createStore(store);
      let api = await startApiOn({ ...testStore.environment, JWT_SECRET: OLD });
      const secret = await fill(api);
      const first = await stored(api);
      expect(first).toHaveLength(count);
      for (const value of first) expect(value).toMatch(ENCRYPTED);
      expect(first.join()).not.toContain(secret);

      // From the derived key to one of its own, and to a second one.
      api = await api.restart({ encryptionKey: FIRST });
      await use(api, secret);
      api = await api.restart({ encryptionKey: FIRST, jwtSecret: NEW, jwtSecretPrevious: OLD });
      await use(api, secret);
      await api.app.close();
      const keys = {
        ENCRYPTION_KEY: SECOND.toString('base64'),
        ENCRYPTION_KEY_PREVIOUS: FIRST.toString('base64'),
      };
      const environment = { ...testStore.environment, JWT_SECRET: NEW, JWT_SECRET_PREVIOUS: OLD, ...keys };
      for (const encrypted of [count, 0]) {
        const { output } = await runCommand('account', ['reencrypt'], { environment });
        const values = `${encrypted} ${encrypted === 1 ? 'value' : 'values'}`;
        expect(output).toContain(`${values} encrypted with the current key`);
      }

      const { ENCRYPTION_KEY } = keys;
      api = await startApiOn({ ...testStore.environment, JWT_SECRET: NEW, ENCRYPTION_KEY });
      await use(api, secret);
      await api.app.close();
      await testStore.remove();
    });

    it('stop the start when no key decrypts them, with a sentence that names the settings', async () => {
      const api = await startApi(store, { JWT_SECRET: OLD });
      await fill(api);

      await expect(api.restart({ jwtSecret: NEW })).rejects.toThrow(
        new RegExp(
          `^ENCRYPTION_KEY and JWT_SECRET decrypt not all values of ${columns}: set ENCRYPTION_KEY_PREVIOUS or JWT_SECRET_PREVIOUS`,
        ),
      );
      await api.stop();
    });
  });
}
