import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AppModule } from '../src/app.module.js';
import { AccountAdmin } from '../src/accounts/account-admin.js';
import { PasswordChanges } from '../src/accounts/password/password-changes.js';
import { loadCommandConfig } from '../src/platform/config/load-config.js';
import { Subscribers } from '../src/platform/changes/index.js';
import { MailQueue } from '../src/platform/mail/index.js';
import { MetricsServer } from '../src/platform/operations/metrics-server.js';
import { DeliveryQueue } from '../src/webhooks/delivery-queue.js';
import { freePort } from './support/free-port.js';
import { onEach } from './support/on-each.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { bearer, PASSWORD } from './support/accounts.js';
import { startApi, startApiOn, type TestApi } from './support/api.js';
import { runCommand, spawnCommand } from './support/command.js';
import { MailServer } from './support/mail-server.js';
import { ANY_STORE, createStore, settingsOf, STORES } from './support/stores.js';

const DAY = 24 * 3_600_000;

const runAccount = (
  { config: { store } }: TestApi,
  parameters: string[],
  { input = '', settings = {}, run = runCommand } = {},
) => {
  return run('account', parameters, { environment: { ...settingsOf(store), ...settings }, input });
};

// As in production, the command runs while a service uses the same database.
onEach('the account command', {}, ({ api }) => {
  const run = (parameters: string[], options = {}) => runAccount(api, parameters, options);

  it('creates a superuser with staff rights, reads the password from standard input, and never prints it', async () => {
    const { code, output } = await run(
      ['create-superuser', '--email', 'Root@Example.COM', '--name', 'Root', '--phone', '1'],
      { input: `${PASSWORD}\n`, run: spawnCommand },
    );

    expect(output).toMatch(/^Database: .+\nRoot@example\.com \(\d+\) is a superuser\n$/);
    expect(code).toBe(0);
    const { access } = await api.accounts.login('root@example.com');
    expect((await api.get('/auth/me/', bearer(access))).body).toMatchObject({
      email: 'Root@example.com',
      name: 'Root',
      phone: '1',
      role: 'admin',
      is_active: true,
      is_staff: true,
      is_superuser: true,
    });
  });

  it('applies the usual rules to a superuser', async () => {
    const create = (email: string, input: string, options = {}) =>
      run(['create-superuser', '--email', email, '--name', 'R'], { input, ...options });
    await api.accounts.register('taken@example.com');

    expect(await create('nobody', PASSWORD, { run: spawnCommand })).toEqual({
      code: 1,
      output: expect.stringMatching(/^Database: .+\nemail must be an e-mail address\n$/),
    });
    expect((await create('a@example.com', '12345')).output).toContain('password must be at least 6');
    expect((await create('TAKEN@example.com', PASSWORD)).output).toContain('already exists');
    const production = { settings: { NODE_ENV: 'production' } };
    expect((await create('a@example.com', 'password1', production)).output).toContain('too easy to guess');
  });

  it('deactivates an account, ends its logins, and activates it again', async () => {
    const { id } = await api.accounts.register('switch@example.com');
    const { access, refresh } = await api.accounts.login('switch@example.com');

    const deactivated = await run(['deactivate', 'SWITCH@example.com']);
    expect(deactivated.output).toContain('is not active any more');
    const events = deactivated.output.split('\n').filter((line) => line.startsWith('{'));
    expect(events.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({ msg: 'Security event', event: 'account_changed', accountId: id }),
    );
    expect(await api.get('/auth/me/', bearer(access))).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/refresh/', { refresh })).toBeError('TOKEN_NOT_VALID');
    const credentials = { email: 'switch@example.com', password: PASSWORD };
    expect(await api.post('/auth/login/', credentials)).toBeError('UNAUTHENTICATED');

    expect((await run(['activate', 'switch@example.com'])).output).toContain('is active');
    await api.accounts.login('switch@example.com');
  });

  it('grants and removes staff rights', async () => {
    const { id } = await api.accounts.register('staff@example.com', { name: 'Two\nlines' });
    const logIn = async () => bearer((await api.accounts.login('staff@example.com')).access);
    const role = async (headers: Record<string, string>) => (await api.get('/auth/me/', headers)).body.role;
    const before = await logIn();

    expect(await run(['staff', 'staff@example.com'])).toMatchObject({ code: 0 });
    // No token keeps the former role.
    expect(await api.get('/auth/me/', before)).toBeError('TOKEN_NOT_VALID');
    const staff = await logIn();
    expect(await role(staff)).toBe('admin');
    expect((await run(['list'])).output).toContain(`${id}  staff@example.com  "Two\\nlines"  staff\n`);
    expect(await run(['staff', 'staff@example.com', '--remove'])).toMatchObject({ code: 0 });
    expect(await api.get('/auth/me/', staff)).toBeError('TOKEN_NOT_VALID');
    expect(await role(await logIn())).toBe('user');
  });

  it('keeps the last active superuser, and superusers staff, whatever it does', async () => {
    for (const name of ['first', 'last']) {
      await api.accounts.register(`${name}.root@example.com`);
      await api.accounts.makeSuperuser(`${name}.root@example.com`);
    }
    // That of an earlier test.
    await run(['delete', 'root@example.com', '--yes']);
    expect(await run(['deactivate', 'first.root@example.com'])).toMatchObject({ code: 0 });
    const { access } = await api.accounts.login('last.root@example.com');

    for (const [parameters, reason] of [
      [['deactivate', 'last.root@example.com'], 'The last active superuser must stay active'],
      [['delete', 'last.root@example.com', '--yes'], 'The last active superuser must stay active'],
      [['staff', 'last.root@example.com', '--remove'], 'A superuser is always staff'],
    ] as const) {
      const { code, output } = await run([...parameters]);
      expect([code, output]).toEqual([1, expect.stringMatching(new RegExp(`\n${reason}\n$`))]);
    }
    expect((await api.get('/auth/me/', bearer(access))).body).toMatchObject({
      is_active: true,
      is_superuser: true,
    });
    expect(await run(['activate', 'first.root@example.com'])).toMatchObject({ code: 0 });
    expect(await run(['deactivate', 'last.root@example.com'])).toMatchObject({ code: 0 });
  });

  it('lists accounts without their hashes', async () => {
    await api.accounts.register('listed@example.com');

    const { output } = await run(['list']);

    expect(output).toContain('  listed@example.com  "Ada"\n');
    expect(output).not.toContain('argon2');
  });

  it('lists one page of the matching accounts', async () => {
    for (const name of ['Zoë 100%', 'Élan two', 'Someone']) {
      await api.accounts.register(`${name.replace(/\W/g, '')}@paged.example`, { name });
    }
    const list = async (...flags: string[]) => (await run(['list', ...flags])).output;

    expect((await list('--search', 'PAGED.example')).match(/@paged/g)).toHaveLength(3);
    expect(await list('--search', 'paged', '--limit', '2', '--page', '2')).toMatch(
      /^\d+  Someone@paged\.example  "Someone"\nPage 2 of 2, 3 accounts\n$/,
    );
    expect((await list('--search', '100%')).match(/@paged/g)).toHaveLength(1);
    expect((await list('--search', 'Élan TWO')).match(/@paged/g)).toHaveLength(1);
    expect(await list('--search', 'nobody has this')).toBe('Page 1 of 1, 0 accounts\n');
    expect(await run(['list', '--limit', '0'])).toEqual({
      code: 1,
      output: '--limit must be a whole number from 1\n',
    });
  });

  it('shows an account without its hash', async () => {
    await api.accounts.register('shown@example.com');
    await api.accounts.login('shown@example.com');

    const { output } = await run(['show', 'SHOWN@example.com']);
    expect(output).toContain('email: "shown@example.com"\n');
    expect(output).not.toMatch(/undefined|emailKey|passwordHash/);
    expect(output).toContain('logins: 1\nidentities: none\n');
    expect(output).not.toContain('argon2');
  });

  it('sets a password, and ends all logins', async () => {
    await api.accounts.register('forgot@example.com');
    const { refresh } = await api.accounts.login('forgot@example.com');
    const reset = (input: string) => run(['reset-password', 'forgot@example.com'], { input });

    expect((await reset('12345\n')).output).toContain('password must be at least 6');
    expect(await api.post('/auth/verify/', { token: refresh })).toHaveStatus(200);
    expect(await reset('a new password\n')).toMatchObject({ code: 0 });
    expect(await api.post('/auth/refresh/', { refresh })).toBeError('TOKEN_NOT_VALID');
    await api.accounts.login('forgot@example.com', 'a new password');
  });

  it('verifies and changes an e-mail address', async () => {
    await api.accounts.register('before@example.com');
    await api.accounts.register('taken-by@example.com');
    const { access } = await api.accounts.login('before@example.com');
    const me = async () => (await api.get('/auth/me/', bearer(access))).body;

    expect((await run(['verify-email', 'before@example.com'])).output).toContain('is verified');
    expect(await me()).toMatchObject({ is_email_verified: true });
    expect((await run(['change-email', 'before@example.com', 'After@EXAMPLE.com'])).output).toMatch(
      /^Database: .+\nAfter@example\.com \(\d+\) was before@example\.com\n$/,
    );
    expect(await me()).toMatchObject({ email: 'After@example.com', is_email_verified: true });
    const taken = await run(['change-email', 'after@example.com', 'TAKEN-by@example.com']);
    expect(taken).toEqual({
      code: 1,
      output: expect.stringMatching(/^Database: .+\nThere is another account TAKEN-by@example\.com\n$/),
    });
    expect((await run(['change-email', 'after@example.com', 'nobody'])).output).toContain('not an e-mail');
    expect(await me()).toMatchObject({ email: 'After@example.com' });
  });

  it.each([
    ['the answer y', ['delete', 'deleted@example.com'], 'y\n'],
    ['--yes', ['delete', 'deleted@example.com', '--yes'], ''],
  ])('deletes an account only after %s', async (_, parameters, input) => {
    await api.accounts.register('deleted@example.com');
    const { access } = await api.accounts.login('deleted@example.com');
    for (const other of ['', 'n\n']) {
      const { code, output } = await run(['delete', 'deleted@example.com'], { input: other });
      expect(output).toMatch(
        /\nDelete deleted@example\.com \(\d+\) and all personal data permanently\? \(y\/N\) \nCancelled, nothing was changed/,
      );
      expect(code).toBe(1);
    }
    expect(await api.get('/auth/me/', bearer(access))).toHaveStatus(200);

    expect(await run(parameters, { input })).toMatchObject({ code: 0 });
    expect(await api.get('/auth/me/', bearer(access))).toBeError('TOKEN_NOT_VALID');
    expect((await run(['show', 'deleted@example.com'])).output).toContain('There is no account');
    await api.accounts.register('deleted@example.com');
    await run(['delete', 'deleted@example.com', '--yes']);
  });

  it('purges expired rows, and nothing else', async () => {
    api.moveClock(-366 * DAY);
    await api.accounts.register('old@example.com');
    api.moveClock(-8 * DAY);
    for (let n = 0; n < 3; n++) await api.accounts.login('old@example.com');
    await api.post('/auth/login/', { email: 'other@example.com', password: 'wrong' });
    api.moveClock(0);
    const { refresh } = await api.accounts.login('old@example.com');
    const count = (table: string, output: string) =>
      Number(new RegExp(`^${table}: (\\d+) purged$`, 'm').exec(output)![1]);

    for (const expected of [
      // Of the counters, that of the failed login, and those of mails to the address, in all and by the network.
      [3, 3, 1],
      [0, 0, 0],
    ]) {
      const { output } = await run(['purge']);
      const tables = ['sessions', 'counters', 'audit_entries'];
      expect(tables.map((table) => count(table, output))).toEqual(expected);
      for (const table of ['one_time_secrets', 'idempotency_records']) {
        expect(count(table, output)).toBeGreaterThanOrEqual(0);
      }
    }
    expect(await api.post('/auth/verify/', { token: refresh })).toHaveStatus(200);
  });
});

describe('the parameters of the account command', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
  });
  afterAll(() => api.stop());

  it.each([
    [[], 'Usage: npm run account'],
    [['promote', 'a@example.com'], 'Usage: npm run account'],
    [['activate'], 'Usage: npm run account'],
    [['change-email', 'a@example.com'], 'Usage: npm run account'],
    [['toString', 'a@example.com'], 'Usage: npm run account'],
    [['activate', 'a@example.com', 'b@example.com'], 'Usage: npm run account'],
    [['activate', 'nobody@example.com'], 'There is no account nobody@example.com'],
    [['create-superuser'], '--email is missing'],
    [['create-superuser', '--email', 'a@example.com'], '--name is missing'],
    [['create-superuser', '--password', 'secret'], "Unknown option '--password'"],
  ])('rejects %j with one line', async (parameters, message) => {
    const { code, output } = await runAccount(api, parameters);

    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(output).not.toMatch(/\n\s+at /);
  });

  it('prints its usage without a database', async () => {
    const child = await runAccount(api, ['delete', '--help'], {
      settings: { DATABASE_URL: 'nonsense' },
      run: spawnCommand,
    });

    expect(child.code).toBe(0);
    expect(child.output).toMatch(/^Usage: npm run account[^]+reset-password <e-mail>/);
  });
});

describe.each(STORES)('the application of a command on %s', (store) => {
  it('purges what the service purges, and leaves all work in the background to the service', async () => {
    const mails = await new MailServer().start();
    const testStore = await createStore(store);
    const METRICS_PORT = String(await freePort());
    const environment = { ...testStore.environment, ...mails.settings, METRICS_PORT };
    const before = await startApiOn(environment);
    await before.accounts.register('ada@example.com');
    await mails.next('ada@example.com');
    await before.accounts.admin().verifyEmail('ada@example.com');
    const tables = await purgedTables(before.app);
    await before.stop();

    const command = await NestFactory.createApplicationContext(
      AppModule.with(loadCommandConfig(environment)),
      {
        logger: false,
        abortOnError: false,
      },
    );
    const claims = [MailQueue, DeliveryQueue].map((queue) =>
      jest.spyOn(command.get<{ claim: () => unknown }>(queue, { strict: false }), 'claim'),
    );
    expect(await purgedTables(command)).toEqual(tables);
    expect(command.get(MetricsServer, { strict: false }).url).toBeUndefined();
    expect(command.get(Subscribers, { strict: false }).subscriptions.size).toBe(0);
    const account = await command.get(AccountAdmin, { strict: false }).get('ada@example.com');
    await command.get(PasswordChanges, { strict: false }).set(account, 'another password');
    await sleep(POLLING_INTERVAL + 500);
    for (const claim of claims) expect(claim).not.toHaveBeenCalled();
    await command.close();
    expect(mails.attempts).toHaveLength(1);

    const after = await startApiOn(environment);
    await mails.nextWith('ada@example.com', 'Your password was changed');
    await after.stop();
    await testStore.remove();
    await mails.stop();
  });
});

/** How often a service looks for due mails and deliveries, in milliseconds; for a mail that it has recorded, sooner. */
const POLLING_INTERVAL = 1000;

const purgedTables = async (app: INestApplicationContext): Promise<string[]> => [
  ...(await app.get(Purger, { strict: false }).purge()).keys(),
];
