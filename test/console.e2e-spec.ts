import { expect, it } from '@jest/globals';
import { bearer, PASSWORD } from './support/accounts.js';
import { confirm, describeConsole, ROOT } from './support/console.js';
import { logIn } from './support/log-in.js';
import { turnOnFactor } from './support/second-factor.js';
import { until } from './support/until.js';

const MINUTE = 60_000;

describeConsole('the console', (of) => {
  it('is for staff only, and says so', async () => {
    await of().api.accounts.register('user@example.com');
    const page = await of().open('/admin/#/health', 'user@example.com');
    await page.getByRole('heading', { name: 'For staff only' }).waitFor();
    expect(await page.getByRole('menuitem').count()).toBe(0);
    await page.getByRole('button', { name: 'Log in with another account' }).click();
    await page.getByRole('heading', { name: 'Log in to the console' }).waitFor();
  });

  it('blocks an account and ends its logins, and asks for the password if the login is older', async () => {
    const tokens: string[] = [];
    for (const [name, shown] of [
      ['before', 'Mallory I'],
      ['blocked', 'Mallory'],
      ['after', 'Mallory III'],
    ]) {
      await of().api.accounts.register(`${name}@example.com`, { name: shown });
      tokens.push((await of().api.accounts.login(`${name}@example.com`)).access);
    }
    const codes = () =>
      Promise.all(
        tokens.map(async (token) => (await of().api.get('/auth/me/', bearer(token))).body.error?.code),
      );
    const page = await of().open('/admin/#/accounts');
    const other = page.getByRole('cell', { name: 'Grace' });
    await other.waitFor();
    await page.getByPlaceholder('Search').fill('mallory');
    // The search replaces the address of the list: a row that is clicked before would be left again.
    await other.waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: 'Mallory', exact: true }).click();
    await page.getByRole('button', { name: 'End logins' }).click();
    await confirm(page, 'End the logins');
    await page.getByText('The logins have ended.').waitFor();
    expect(await codes()).toEqual([undefined, 'TOKEN_NOT_VALID', undefined]);

    of().api.moveClock(6 * MINUTE);
    await page.getByRole('button', { name: 'Block' }).click();
    await confirm(page, 'Block');
    const question = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await question.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Unblock' }).waitFor();
    of().api.moveClock(0);
    expect(await codes()).toEqual([undefined, 'TOKEN_NOT_VALID', undefined]);
    const login = { email: 'blocked@example.com', password: PASSWORD };
    expect(await of().api.post('/auth/login/', login)).toBeError('UNAUTHENTICATED');

    await page.getByRole('menuitem', { name: 'Audit log' }).click();
    await page
      .getByRole('cell', { name: /^PATCH \/auth\/accounts/ })
      .first()
      .waitFor();
  });

  it('makes an account staff, and resets its two-step login', async () => {
    const helpers: { id: number; email: string; access: string }[] = [];
    for (const email of ['helper1@example.com', 'helper2@example.com', 'helper3@example.com']) {
      const { id } = await of().api.accounts.register(email, { name: 'Hedy' });
      const { access } = await of().api.accounts.login(email);
      await turnOnFactor(of().api, bearer(access));
      helpers.push({ id, email, access });
    }
    const [first, helper, third] = helpers;
    const page = await of().open(`/admin/#/accounts/${helper!.id}/show`);
    await page.getByRole('button', { name: 'Reset two-step login' }).click();
    await confirm(page, 'Reset');
    await page.getByText('Two-step login and passkeys are removed.').waitFor();
    await page.getByRole('button', { name: 'Make staff' }).click();
    await confirm(page, 'Make staff');
    await page.getByRole('button', { name: 'Remove from staff' }).waitFor();

    expect(await of().api.get('/auth/me/', bearer(helper!.access))).toBeError('TOKEN_NOT_VALID');
    const again = await of().api.accounts.login(helper!.email);
    expect((await of().api.get('/auth/me/', bearer(again.access))).body).toMatchObject({ is_staff: true });
    for (const { access } of [first!, third!]) {
      expect((await of().api.get('/auth/me/', bearer(access))).body).toMatchObject({ is_staff: false });
      expect((await of().api.get('/auth/mfa/', bearer(access))).body.data).toMatchObject({ totp: true });
    }
  });

  it('finds entries of the audit log by account and by subject', async () => {
    const { id } = await of().api.accounts.register('traced@example.com');
    const { access } = await of().api.accounts.login('traced@example.com');
    await of().api.patch('/auth/me/', { name: 'Traced' }, bearer(access));
    const page = await of().open('/admin/#/audit');
    await page.getByLabel('Account', { exact: true }).fill(String(id));
    await page.getByRole('cell', { name: 'PATCH /auth/me' }).waitFor();
    await page.getByRole('link', { name: '1', exact: true }).first().waitFor({ state: 'detached' });
    await page.getByLabel('Subject').fill('/v1/nothing');
    await page.getByRole('cell', { name: 'PATCH /auth/me' }).waitFor({ state: 'detached' });
  });

  it('says what the service lacks while it is not ready', async () => {
    const page = await of().open('/admin/#/health');
    await page.getByText('Ready for requests.').waitFor();
    const { rows } = of().api;
    await rows.execute('ALTER TABLE orders RENAME TO away');
    await page.getByText('database orders is a table that the database has lost').waitFor();
    await rows.execute('ALTER TABLE away RENAME TO orders');
    await page.getByRole('button', { name: 'Check now' }).click();
    await page.getByText('Ready for requests.').waitFor();
    expect(new Set(of().errors.splice(0))).toEqual(new Set(['503 /health/ready']));
  });

  it('goes on, by keyboard, in the page that a link has opened', async () => {
    const page = await of().open('/admin/#/health');
    await page.getByRole('button', { name: 'Check now' }).waitFor();
    await page.getByRole('menuitem', { name: 'Accounts' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'Grace' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.getByPlaceholder('Search').evaluate((field) => field.matches(':focus'))).toBe(true);
  });

  it.each(['the console', 'the account page'])(
    'keeps nothing of a search after a log-out on %s',
    async (place) => {
      const page = await of().open('/admin/#/accounts');
      await page.getByPlaceholder('Search').fill('secret search');
      await page.getByRole('cell', { name: 'Grace' }).first().waitFor({ state: 'detached' });
      await page.getByRole('menuitem', { name: 'Health' }).click();
      await page.getByRole('button', { name: 'Check now' }).waitFor();
      if (place === 'the account page') {
        await page.goto(`${of().url}/account/`);
        await page.getByRole('button', { name: 'Log out' }).click();
        await page.getByRole('heading', { name: 'Log in' }).waitFor();
      } else {
        await page.getByRole('button', { name: 'Grace' }).click();
        await page.getByRole('menuitem', { name: 'Logout' }).click();
      }
      await page.getByRole('heading', { name: 'Log in' }).waitFor();

      const stored = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
      expect(stored).not.toMatch(/secret search|RaStore/);
      if (place === 'the account page') return;
      // Not even for who logs in next in this tab.
      await logIn(page, ROOT);
      await page.getByRole('menuitem', { name: 'Accounts' }).click();
      await page.getByRole('cell', { name: 'Grace' }).first().waitFor();
    },
  );

  it('leads to the login and back to the same place when the session has ended elsewhere', async () => {
    const page = await of().open('/admin/#/audit');
    await page.getByRole('cell', { name: 'POST /auth/session' }).first().waitFor();
    const { access } = await of().api.accounts.login(ROOT);
    await of().api.delete('/auth/sessions/', bearer(access));
    await page.getByRole('menuitem', { name: 'Accounts' }).click();
    await page.getByRole('heading', { name: 'Log in to the console' }).waitFor();
    await logIn(page, ROOT);
    await page.getByRole('heading', { name: 'Accounts' }).waitFor();
    expect(page.url()).toBe(`${of().url}/admin/#/accounts`);
  });

  it('leads through the pages of lists, by number and by cursor', async () => {
    for (let n = 0; n < 45; n++)
      await of().api.accounts.register(`page${n}@example.com`, { name: `Person ${n}` });
    const page = await of().open('/admin/#/accounts');
    const names = page.getByRole('cell', { name: /^Person \d+$/ });
    const untilShown = async (first: string, last: string) => {
      await names.first().filter({ hasText: first }).waitFor();
      expect((await names.allTextContents()).at(-1)).toBe(last);
      expect(await names.count()).toBe(20);
    };
    await untilShown('Person 44', 'Person 25');
    await page.getByRole('button', { name: 'Go to page 2' }).click();
    await untilShown('Person 24', 'Person 5');
    await page.getByRole('button', { name: 'Go to page 1' }).click();
    await untilShown('Person 44', 'Person 25');

    await page.getByRole('menuitem', { name: 'Audit log' }).click();
    const accounts = page.getByRole('cell', { name: /^\/auth\/accounts\/\d+$/ });
    const pages: string[][] = [];
    const turn = async (button?: 'Next' | 'Previous') => {
      if (button) await page.getByRole('button', { name: button }).click();
      const before = JSON.stringify(pages.at(-1));
      await accounts.first().waitFor();
      await until('the page has changed', async () => {
        const shown = await accounts.allTextContents();
        return shown.length > 0 && JSON.stringify(shown) !== before;
      });
      pages.push(await accounts.allTextContents());
    };
    await turn();
    for (const button of ['Next', 'Next', 'Previous', 'Previous'] as const) await turn(button);
    expect(pages.slice(3)).toEqual([pages[1], pages[0]]);
    expect(new Set(pages.slice(0, 3).flat()).size).toBe(pages.slice(0, 3).flat().length);
  });
});
