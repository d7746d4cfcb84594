import { expect } from '@jest/globals';
import { startApiOn, type TestApi } from './api.js';
import { FixtureModule } from './fixture.module.js';
import { MailServer } from './mail-server.js';
import { Service } from './service.js';
import { createStore, DIRECT, type StoreName } from './stores.js';

/** An account with a verified e-mail makes the write. */
export const EMAIL = 'ada@example.com';

export interface FatalWrite {
  readonly path: string;
  readonly body: object;
  /** A regular expression: the commit of the first transaction with such a statement kills the process. */
  readonly statement: string;
}

/** A process that follows, and what the killed one left. */
export interface Killed {
  readonly api: TestApi;
  readonly mails: MailServer;
  /** Those of the account that has made the write. */
  readonly headers: Record<string, string>;
}

/**
 * Sends a write with a key to a process that is killed just after its commit.
 *
 * @param prepare runs before it
 * @param check runs with the process that follows
 */
export async function killAtCommit<Prepared>(
  store: StoreName,
  { path, body, statement }: FatalWrite,
  prepare: (api: TestApi) => Promise<Prepared>,
  check: (killed: Killed, prepared: Prepared) => Promise<unknown>,
): Promise<void> {
  const mails = await new MailServer().start();
  const { environment, ...testStore } = await createStore(store, DIRECT);
  const settings = { ...environment, ...mails.settings, WRITE_ACCESS: 'authenticated' };
  const before = await startApiOn(settings, [FixtureModule]);
  const headers = await before.accounts.logInNew(EMAIL);
  await before.accounts.admin().verifyEmail(EMAIL);
  const prepared = await prepare(before);
  await before.stop();
  const dying = await Service.withFixture({
    ...settings,
    DIE_AT: statement,
    NODE_OPTIONS: '--import ./test/support/die-at-commit.mjs',
  });
  const request = dying.fetch(path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': 'k' },
    body: JSON.stringify(body),
  });
  await expect(request).rejects.toThrow('fetch failed');
  await dying.end();
  expect(dying.process.signalCode).toBe('SIGKILL');

  const api = await startApiOn(settings, [FixtureModule]);
  await check({ api, mails, headers }, prepared);
  await api.stop();
  await testStore.remove();
  await mails.stop();
}
