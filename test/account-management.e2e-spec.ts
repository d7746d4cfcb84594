import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { bearer, PASSWORD } from './support/accounts.js';
import { created, startApi, type TestApi } from './support/api.js';
import { confirm } from './support/console.js';
import { freePort } from './support/free-port.js';
import { describeInBrowser } from './support/in-browser.js';
import { logIn } from './support/log-in.js';
import { totpCode, turnOnFactor } from './support/second-factor.js';
import { STORES } from './support/stores.js';

const MINUTE = 60_000;

interface Visit {
  readonly page: Page;
  readonly email: string;
}

describeInBrowser((open) => {
  describe.each(STORES)('managing an account on %s', (store) => {
    let api: TestApi;
    let url: string;
    let count = 0;
    beforeAll(async () => {
      const port = await freePort();
      // Passkeys belong to a name, not to an address.
      url = `http://localhost:${port}`;
      api = await startApi(store, { PUBLIC_URL: url });
      await api.app.listen(port, 'localhost');
    });
    afterEach(() => api.moveClock(0));
    afterAll(() => api.stop());

    /**
     * Registers somebody, and opens the login.
     *
     * @param suggests whether the browser suggests passkeys; the virtual device takes each suggestion at once
     */
    async function visit({ suggests = false } = {}): Promise<Visit> {
      const email = `manager${++count}@example.com`;
      await api.accounts.register(email);
      const page = await open('about:blank');
      if (!suggests)
        await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false');
      const devices = await page.context().newCDPSession(page);
      await devices.send('WebAuthn.enable');
      await devices.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      });
      await page.goto(`${url}/account/`);
      return { page, email };
    }

    async function visitLoggedIn(options = {}): Promise<Visit> {
      const visitor = await visit(options);
      await logIn(visitor.page, visitor.email);
      return visitor;
    }

    const alert = (page: Page) => page.getByRole('alert');
    /** Opens a section by its entry in the list. */
    async function part(page: Page, name: string): Promise<Locator> {
      await page.getByRole('link', { name }).click();
      return page.getByRole('region', { name });
    }

    /** Stores a passkey that is on another device. */
    async function addElsewhere(email: string, name: string): Promise<void> {
      await api.rows.execute(
        `INSERT INTO passkeys (account_id, credential_id, public_key, counter, transports, name, created_at)
         SELECT id, :credential, 'key', 0, '[]', :name, password_changed_at FROM accounts WHERE email = :email`,
        { name, email, credential: Buffer.from(name).toString('base64url') },
      );
    }

    it('adds a passkey, logs in with it, and removes it from among others', async () => {
      const { page, email } = await visitLoggedIn();
      await addElsewhere(email, 'Phone');
      const passkeys = await part(page, 'Passkeys');
      await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
      await passkeys.getByLabel('Name').fill('Laptop');
      await page.keyboard.press('Enter');
      await passkeys.getByText('Laptop', { exact: true }).waitFor();
      await addElsewhere(email, 'Key');

      await page.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('button', { name: 'Log in with a passkey' }).click();

      // The section that was open.
      await passkeys.getByRole('button', { name: 'Remove the passkey Laptop' }).click();
      await confirm(page, 'Remove');
      await passkeys.getByText('Laptop', { exact: true }).waitFor({ state: 'detached' });
      for (const name of ['Phone', 'Key']) await passkeys.getByText(name, { exact: true }).waitFor();
    });

    it('logs in with a passkey that the browser suggests', async () => {
      const { page } = await visitLoggedIn({ suggests: true });
      const passkeys = await part(page, 'Passkeys');
      await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
      // The field has the focus as soon as the form is open.
      await passkeys.locator('input:focus').press('Enter');
      await passkeys.getByText('This device', { exact: true }).waitFor();
      const [before] = await page.context().cookies(url);
      await page.context().clearCookies();

      await page.reload();
      await passkeys.getByText('This device', { exact: true }).waitFor();

      const [after] = await page.context().cookies(url);
      expect(after!.value).not.toBe(before!.value);
    });

    it('turns two-step login on, logs in with a code, and turns it off', async () => {
      const { page, email } = await visitLoggedIn();
      const factor = await part(page, 'Two-step login');
      await factor.getByRole('button', { name: 'Set up an authenticator app' }).press('Enter');
      await factor.getByAltText(/^QR code/).waitFor();
      expect(await page.evaluate('document.querySelector("main img").naturalWidth')).toBeGreaterThan(100);
      const secret = await factor.getByLabel('Key').inputValue();
      // By keyboard only: each step has the focus when it appears, and the button of a form keeps it.
      await page.keyboard.type('000000');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await alert(page).getByText('The code is wrong').waitFor();
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Control+a');
      await page.keyboard.type(totpCode(secret));
      await page.keyboard.press('Enter');
      const recovery = (await factor.locator('pre:focus').textContent())!.split('\n');
      expect(recovery).toHaveLength(10);
      for (let n = 0; n < 3; n++) await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await factor.getByText('Recovery codes left: 10.').waitFor();

      await page.getByRole('button', { name: 'Log out' }).click();
      await logIn(page, email);
      await page.getByLabel('Code').fill('000000');
      await page.keyboard.press('Enter');
      await alert(page).getByText('The code is wrong').waitFor();
      await page.getByLabel('Code').fill(recovery[0]!);
      await page.keyboard.press('Enter');
      await factor.getByText('Recovery codes left: 9.').waitFor();

      await factor.getByRole('button', { name: 'Turn it off' }).click();
      await factor.getByLabel('Code').fill(recovery[1]!);
      await factor.getByRole('button', { name: 'Turn off' }).click();
      await factor.getByText('It is off').waitFor();
    });

    /** Fills the form for a new key. */
    async function createKey(page: Page): Promise<Locator> {
      const keys = await part(page, 'API keys');
      await keys.getByRole('button', { name: 'Create a key' }).click();
      await keys.getByLabel('Name').fill('Import');
      api.moveClock(6 * MINUTE);
      await page.keyboard.press('Enter');
      return keys;
    }

    it('accepts no year of an API key that the service would refuse', async () => {
      const { page } = await visitLoggedIn();
      const keys = await part(page, 'API keys');
      await keys.getByRole('button', { name: 'Create a key' }).click();
      await keys.getByLabel('Name').fill('Far');
      const expires = keys.getByLabel('Expires');
      await expires.fill('12345-06-01');
      await keys.getByRole('button', { name: 'Create' }).click();
      expect(await expires.evaluate((field) => field.matches(':invalid'))).toBe(true);
      await expires.fill('9999-12-30');
      await keys.getByRole('button', { name: 'Create' }).click();
      await keys.getByLabel('API key', { exact: true }).waitFor();
      expect(await alert(page).getByText('Something went wrong').count()).toBe(0);
    });

    it('creates and deletes an API key, and asks for the password if the login is older', async () => {
      const { page, email } = await visitLoggedIn();
      const addOther = async (name: string): Promise<string> => {
        const headers = bearer((await api.accounts.login(email)).access);
        return created(await api.post('/auth/api-keys/', { name, scope: 'read' }, headers)).key;
      };
      const others = [await addOther('Before')];
      const keys = await createKey(page);
      const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
      await dialog.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await page.keyboard.press('Enter');
      const key = await keys.getByLabel('API key', { exact: true }).inputValue();
      expect(await api.get('/auth/me/', bearer(key))).toHaveStatus(200);
      others.push(await addOther('After'));
      await keys.getByRole('button', { name: 'Close' }).click();
      const remove = async (name: string) => {
        const button = keys.getByRole('button', { name: `Delete the API key ${name}` });
        await button.click();
        await confirm(page, 'Delete');
        await button.waitFor({ state: 'detached' });
      };
      await remove('Import');
      api.moveClock(0);
      expect(await api.get('/auth/me/', bearer(key))).toBeError('TOKEN_NOT_VALID');
      for (const other of others) expect(await api.get('/auth/me/', bearer(other))).toHaveStatus(200);
      await remove('Before');
      await remove('After');
      await keys.getByText('An API key lets a program act as you').waitFor();
    });

    it('asks for a code beside the password while two-step login is on', async () => {
      const { page, email } = await visit();
      const headers = bearer((await api.accounts.login(email)).access);
      const { recovery_codes } = await turnOnFactor(api, headers);
      await logIn(page, email);
      await page.getByLabel('Code').fill(recovery_codes[0]!);
      await page.keyboard.press('Enter');
      const keys = await createKey(page);
      const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
      await dialog.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await dialog.getByLabel('Code').fill(recovery_codes[1]!);
      await page.keyboard.press('Enter');
      await keys.getByLabel('API key', { exact: true }).waitFor();
    });

    it('changes nothing when the question for the password is cancelled', async () => {
      const { page } = await visitLoggedIn();
      const keys = await createKey(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await keys.getByText('Nothing was changed.').waitFor();
    });

    it('leads through a new login, for an account without a password, back to the open form', async () => {
      const { page, email } = await visitLoggedIn();
      const keys = await createKey(page);
      await page.getByRole('dialog').getByRole('button', { name: 'Log in again' }).click();
      await logIn(page, email);
      await keys.getByLabel('Name').fill('Import');
      await page.keyboard.press('Enter');
      await keys.getByLabel('API key', { exact: true }).waitFor();
    });

    it('ends other logins, by keyboard', async () => {
      const { page, email } = await visitLoggedIn();
      const others = [];
      for (let n = 0; n < 3; n++) others.push(await api.accounts.login(email));
      const logins = await part(page, 'Logins');
      await logins.getByText('this device · active now').waitFor();
      const buttons = logins.getByRole('button', { name: /^End the login of/ });
      await buttons.nth(1).focus();
      await page.keyboard.press('Enter');
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      await alert(page).getByText('The login has ended.').waitFor();
      // The button is gone: the keyboard goes on at the heading.
      await logins.locator('h2:focus').waitFor();
      expect(await buttons.count()).toBe(2);
      const codes = [];
      for (const { access } of others)
        codes.push((await api.get('/auth/me/', bearer(access))).body.error?.code);
      expect(codes).toEqual([undefined, 'TOKEN_NOT_VALID', undefined]);
    });

    it('keeps an open form when the page is loaded again, and closes it by Back', async () => {
      const { page } = await visitLoggedIn();
      const keys = await part(page, 'API keys');
      await keys.getByRole('button', { name: 'Create a key' }).click();
      await keys.getByLabel('Name').waitFor();
      await page.reload();
      await keys.getByLabel('Name').waitFor();
      await page.goBack();
      await keys.getByRole('button', { name: 'Create a key' }).waitFor();
      expect(await keys.getByLabel('Name').count()).toBe(0);
    });

    it('ends all other logins', async () => {
      const { page, email } = await visitLoggedIn();
      const others = [await api.accounts.login(email), await api.accounts.login(email)];
      const logins = await part(page, 'Logins');
      await logins.getByRole('button', { name: 'End all others' }).click();
      await confirm(page, 'End the others');
      await alert(page).getByText('All other logins have ended.').waitFor();
      for (const { access } of others)
        expect(await api.get('/auth/me/', bearer(access))).toBeError('TOKEN_NOT_VALID');
      await logins.getByText('this device · active now').waitFor();
      expect(await logins.getByRole('button', { name: /^End the login of/ }).count()).toBe(0);
    });

    it('goes on in a tab after another login in a second one', async () => {
      const { page, email } = await visitLoggedIn();
      const profile = await part(page, 'Profile');
      const second = await page.context().newPage();
      await second.goto(`${url}/account/`);
      await second.getByRole('button', { name: 'Log out' }).click();
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await logIn(second, email);
      await profile.getByLabel('Name').fill('From the first tab');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'From the first tab' }).waitFor();
    });

    it('leads to the login and back to the same section when the session has ended elsewhere', async () => {
      const { page, email } = await visitLoggedIn();
      await (await part(page, 'Passkeys')).getByText('A passkey logs in').waitFor();
      const { access } = await api.accounts.login(email);
      await api.delete('/auth/sessions/', bearer(access));
      await page.getByRole('link', { name: 'Logins' }).click();
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      await logIn(page, email);
      await page.getByRole('region', { name: 'Logins' }).waitFor();
      expect(page.url()).toBe(`${url}/account/#/logins`);
    });

    it('changes the profile and the e-mail, exports and deletes the account', async () => {
      const { page, email } = await visitLoggedIn();
      const profile = await part(page, 'Profile');
      await profile.getByLabel('Name').fill('Countess Lovelace');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Countess Lovelace' }).waitFor();

      const address = await part(page, 'E-mail');
      await address.getByText('Not verified').waitFor();
      await address.getByRole('button', { name: 'Change the address' }).click();
      await address.getByLabel('New e-mail').fill('countess@example.com');
      await address.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await page.keyboard.press('Enter');
      await alert(page).getByText('Open the link in the mail to countess@example.com').waitFor();

      const deletion = await part(page, 'Export and delete');
      const download = page.waitForEvent('download');
      await deletion.getByRole('button', { name: 'Export' }).click();
      const file = JSON.parse(readFileSync(await (await download).path(), 'utf8'));
      expect(file.account).toMatchObject({ email, name: 'Countess Lovelace' });
      await deletion.getByRole('button', { name: 'Delete the account' }).click();
      await deletion.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Log in' }).waitFor();
      expect(await api.post('/auth/login/', { email, password: PASSWORD })).toBeError('UNAUTHENTICATED');
    });

    it('says that a login has failed', async () => {
      const { page, email } = await visit();
      await logIn(page, email, 'wrong');
      await alert(page).getByText('The e-mail or the password is wrong.').waitFor();
    });
  });
});
