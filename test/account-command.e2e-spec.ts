import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bearer, PASSWORD, startApi, type TestApi } from './support/api.js';
import { STORES } from './support/stores.js';

const DAY = 24 * 3_600_000;

async function runCommand(api: TestApi, parameters: string[], { input = '', settings = {} } = {}) {
  const { store } = api.config;
  const environment = store.kind === 'sqlite' ? { DATA_DIR: store.directory } : { DATABASE_URL: store.url };
  const child = spawn(process.execPath, ['dist/commands/account.js', ...parameters], {
    env: { PATH: process.env['PATH'], ...environment, ...settings },
  });
  let output = '';
  child.stdout.on('data', (chunk) => (output += chunk));
  child.stderr.on('data', (chunk) => (output += chunk));
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { code, output };
}

// The command runs beside a service on the same database, as it would in production.
describe.each(STORES)('the account command on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
  });
  afterAll(() => api.stop());

  const run = (parameters: string[], options = {}) => runCommand(api, parameters, options);

  it('creates a superuser, who is staff, with a password from standard input that it never shows', async () => {
    const { code, output } = await run(
      ['create-superuser', '--email', 'Root@Example.COM', '--name', 'Root', '--phone', '1'],
      { input: `${PASSWORD}\n` },
    );

    expect(output).toMatch(/^Root@example\.com \(\d+\) is a superuser\n$/);
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

  it('holds a superuser to the rules of everyone', async () => {
    const create = (email: string, input: string, settings = {}) =>
      run(['create-superuser', '--email', email, '--name', 'R'], { input, settings });
    await api.accounts.register('taken@example.com');

    expect(await create('nobody', PASSWORD)).toEqual({
      code: 1,
      output: 'email must be an e-mail address\n',
    });
    expect((await create('a@example.com', '12345')).output).toContain('password must be at least 6');
    expect((await create('TAKEN@example.com', PASSWORD)).output).toContain('exists already');
    const production = { NODE_ENV: 'production' };
    expect((await create('a@example.com', 'password1', production)).output).toContain('guessed first');
  });

  it('switches accounts off, with all that they have open, and on again', async () => {
    await api.accounts.register('switch@example.com');
    const { access, refresh } = await api.accounts.login('switch@example.com');

    expect((await run(['deactivate', 'SWITCH@example.com'])).output).toContain('is not active any more');
    expect(await api.get('/auth/me/', bearer(access))).toBeError('TOKEN_NOT_VALID');
    expect(await api.post('/auth/refresh/', { refresh })).toBeError('TOKEN_NOT_VALID');
    const credentials = { email: 'switch@example.com', password: PASSWORD };
    expect(await api.post('/auth/login/', credentials)).toBeError('UNAUTHENTICATED');

    expect((await run(['activate', 'switch@example.com'])).output).toContain('is active');
    await api.accounts.login('switch@example.com');
  });

  it('makes staff, and takes that away', async () => {
    const { id } = await api.accounts.register('staff@example.com', { name: 'Two\nlines' });
    const { access } = await api.accounts.login('staff@example.com');
    const role = async () => (await api.get('/auth/me/', bearer(access))).body.role;

    expect(await run(['staff', 'staff@example.com'])).toMatchObject({ code: 0 });
    expect(await role()).toBe('admin');
    expect((await run(['list'])).output).toContain(`${id}  staff@example.com  "Two\\nlines"  staff\n`);
    expect(await run(['staff', 'staff@example.com', '--remove'])).toMatchObject({ code: 0 });
    expect(await role()).toBe('user');
  });

  it('lists accounts without their hashes', async () => {
    await api.accounts.register('listed@example.com');

    const { output } = await run(['list']);

    expect(output).toContain('  listed@example.com  "Ada"\n');
    expect(output).not.toContain('argon2');
  });

  it('purges what has expired, and nothing else', async () => {
    await api.accounts.register('old@example.com');
    api.moveClock(-8 * DAY);
    for (let n = 0; n < 3; n++) await api.accounts.login('old@example.com');
    await api.post('/auth/login/', { email: 'other@example.com', password: 'wrong' });
    api.moveClock(0);
    const { refresh } = await api.accounts.login('old@example.com');

    const purged = (logins: number, failures: number) =>
      `logins: ${logins} purged\nlogin_failures: ${failures} purged\nlogin_codes: 0 purged\nidempotency_records: 0 purged\n`;
    expect((await run(['purge'])).output).toBe(purged(3, 1));
    expect((await run(['purge'])).output).toBe(purged(0, 0));
    expect(await api.post('/auth/verify/', { token: refresh })).toHaveStatus(200);
  });
});

describe('the account command', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi('SQLite');
  });
  afterAll(() => api.stop());

  it.each([
    [[], 'Usage: npm run account'],
    [['promote', 'a@example.com'], 'Usage: npm run account'],
    [['activate'], 'Usage: npm run account'],
    [['activate', 'a@example.com', 'b@example.com'], 'Usage: npm run account'],
    [['activate', 'nobody@example.com'], 'There is no account nobody@example.com'],
    [['create-superuser'], '--email is missing'],
    [['create-superuser', '--email', 'a@example.com'], '--name is missing'],
    [['create-superuser', '--password', 'secret'], "Unknown option '--password'"],
  ])('%j is refused in a few words', async (parameters, message) => {
    const { code, output } = await runCommand(api, parameters);

    expect(code).toBe(1);
    expect(output).toContain(message);
    expect(output).not.toMatch(/\n\s+at /);
  });
});
