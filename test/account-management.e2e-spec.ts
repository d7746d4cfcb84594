import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Secret, TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { bearer, PASSWORD, startApi, type TestApi } from './support/api.js';
import { hasBrowser, launchBrowser } from './support/browser.js';
import { freePort } from './support/free-port.js';
import { STORES } from './support/stores.js';

const MINUTE = 60_000;

(hasBrowser ? describe : describe.skip).each(STORES)('managing an account in a browser, on %s', (store) => {
  let browser: Browser;
  let api: TestApi;
  let url: string;
  let count = 0;
  beforeAll(async () => {
    browser = await launchBrowser();
    const port = await freePort();
    // Passkeys belong to a name, not to an address.
    url = `http://localhost:${port}`;
    api = await startApi(store, { PUBLIC_URL: url });
    await api.app.listen(port, 'localhost');
  });
  afterAll(async () => {
    await browser?.close();
    await api.stop();
  });

  async function open(): Promise<{ page: Page; email: string; errors: string[] }> {
    const email = `manager${++count}@example.com`;
    await api.accounts.register(email);
    const context = await browser.newContext();
    const page = await context.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (message.type() === 'error' && !message.text().includes('Failed to load resource')) {
        errors.push(message.text());
      }
    });
    const devices = await context.newCDPSession(page);
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
    return { page, email, errors };
  }

  async function logIn(page: Page, email: string): Promise<void> {
    await page.getByLabel('E-mail').fill(email);
    await page.locator('#account').getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
  }

  const status = (page: Page) => page.getByRole('status');
  const part = (page: Page, name: string) => page.getByRole('region', { name });

  it('adds a passkey, and logs in with it', async () => {
    const { page, email, errors } = await open();
    await logIn(page, email);
    const passkeys = part(page, 'Passkeys');
    await passkeys.getByLabel('Name').fill('Laptop');
    await passkeys.getByRole('button', { name: 'Add a passkey' }).click();
    await passkeys.getByText(/^Laptop, added/).waitFor();

    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('button', { name: 'Log in with a passkey' }).click();

    await page.getByText(`Logged in as Ada, ${email}.`).waitFor();
    await passkeys.getByRole('button', { name: 'Remove the passkey Laptop' }).click();
    await passkeys.getByText('There are none.').waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('turns two-step login on, logs in with a code, and turns it off', async () => {
    const { page, email, errors } = await open();
    await logIn(page, email);
    const factor = part(page, 'Two-step login');
    await factor.getByRole('button', { name: 'Set up an authenticator app' }).press('Enter');
    await factor.getByAltText(/^QR code/).waitFor();
    expect(await page.evaluate('document.querySelector("img").naturalWidth')).toBeGreaterThan(100);
    const secret = (await factor.locator('code').textContent())!;
    const code = (timestamp = Date.now()) =>
      new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp });
    // By keyboard only: each step has the focus when it appears, and the button of a form keeps it.
    await page.keyboard.type('000000');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await status(page).getByText('The code is wrong').waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.type(code());
    await page.keyboard.press('Enter');
    const recovery = (await factor.locator('pre:focus').textContent())!.split('\n');
    expect(recovery).toHaveLength(10);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await factor.getByText('Recovery codes left: 10.').waitFor();

    await page.getByRole('button', { name: 'Log out' }).click();
    await logIn(page, email);
    await page.getByLabel('Code').fill('000000');
    await page.keyboard.press('Enter');
    await status(page).getByText('The code is wrong').waitFor();
    await page.getByLabel('Code').fill(recovery[0]!);
    await page.keyboard.press('Enter');
    await factor.getByText('Recovery codes left: 9.').waitFor();

    await factor.getByText('Turn it off').click();
    await factor.getByRole('group').last().getByLabel('Code').fill(recovery[1]!);
    await factor.getByRole('button', { name: 'Turn off' }).click();
    await factor.getByText('It is off').waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('creates and deletes an API key, and asks for the password if the login is older', async () => {
    const { page, email, errors } = await open();
    await logIn(page, email);
    const keys = part(page, 'API keys');
    await keys.getByLabel('Name').fill('Import');
    api.moveClock(6 * MINUTE);
    await keys.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await dialog.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');
    const key = (await keys.locator('pre:focus').textContent())!;
    expect(await api.get('/auth/me/', bearer(key))).toHaveStatus(200);
    await keys.getByRole('button', { name: 'I have copied it' }).click();
    await keys.getByRole('button', { name: 'Delete the API key Import' }).click();
    await keys.getByText('There are none.').waitFor();
    api.moveClock(0);
    expect(await api.get('/auth/me/', bearer(key))).toBeError('TOKEN_NOT_VALID');
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('asks for a code beside the password while two-step login is on', async () => {
    const { page, email, errors } = await open();
    const headers = bearer((await api.accounts.login(email)).access);
    const { secret } = (await api.post('/auth/mfa/totp/', {}, headers)).body;
    const code = new TOTP({ secret: Secret.fromBase32(secret) }).generate();
    const { recovery_codes } = (await api.post('/auth/mfa/totp/confirm/', { code }, headers)).body;
    await logIn(page, email);
    await page.getByLabel('Code').fill(recovery_codes[0]);
    await page.keyboard.press('Enter');
    const keys = part(page, 'API keys');
    await keys.getByLabel('Name').fill('Import');
    api.moveClock(6 * MINUTE);
    await keys.getByRole('button', { name: 'Create a key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Confirm that it is you' });
    await dialog.getByLabel('Password').fill(PASSWORD);
    await dialog.getByLabel('Code').fill(recovery_codes[1]);
    await page.keyboard.press('Enter');
    await keys.locator('pre:focus').waitFor();
    api.moveClock(0);
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('ends other logins, by keyboard', async () => {
    const { page, email, errors } = await open();
    const { access } = await api.accounts.login(email);
    const slow = Promise.withResolvers<void>();
    await page.route('**/auth/identities/', async (route) => {
      await slow.promise;
      await route.continue();
    });
    await logIn(page, email);
    const logins = part(page, 'Logins');
    await logins.getByRole('button', { name: /^End the login of/ }).focus();
    slow.resolve();
    await part(page, 'Identities').getByText('There are none.').waitFor();
    await page.keyboard.press('Enter');
    await status(page).getByText('The login has ended.').waitFor();
    // The section is filled again after the status has changed.
    await logins.locator('h2:focus').waitFor();
    expect(await api.get('/auth/me/', bearer(access))).toBeError('TOKEN_NOT_VALID');
    expect(errors).toEqual([]);
    await page.context().close();
  });

  it('says that a login has failed, and keeps to the strict policy', async () => {
    const { page, email, errors } = await open();
    await page.getByLabel('E-mail').fill(email);
    await page.locator('#account').getByLabel('Password').fill('wrong');
    await page.keyboard.press('Enter');
    await status(page).getByText('The e-mail or the password is wrong.').waitFor();
    expect(errors).toEqual([]);
    await page.context().close();
  });
});
