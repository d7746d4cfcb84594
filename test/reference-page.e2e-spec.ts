import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { bearer } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { describeInBrowser } from './support/in-browser.js';
import { logIn, logInByHeader, logOutElsewhere } from './support/log-in.js';
import { openOperation, sendTo, tryOut } from './support/reference-page.js';
import { ANY_STORE } from './support/stores.js';
import { until } from './support/until.js';

const ME = 'accounts/GET/auth/me/';
const CHANGE_ME = 'accounts/PATCH/auth/me/';

describe('the page of the reference', () => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
    url = await api.listen();
  });
  afterAll(() => api.stop());

  it('may write styles into itself, and runs no script but those of its files', async () => {
    const policy = (await api.get('/docs')).headers['content-security-policy'];

    expect(policy).toContain("script-src 'self';style-src 'self' 'unsafe-inline';connect-src 'self';");
    expect(policy).not.toContain('unsafe-eval');
  });

  describeInBrowser((open, errors) => {
    let page: Page;
    beforeEach(async () => {
      page = await open('about:blank');
    });

    it('tries out an operation', async () => {
      const operation = await openOperation(page, url, 'health/GET/health');
      const dialog = await tryOut(operation);
      await sendTo(dialog, '200 OK');

      expect(await operation.innerText()).toContain(`curl ${url}/health`);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      expect(await page.isVisible('#session a:text("Log in")')).toBe(true);
    });

    it('says that it loads, or that it cannot', async () => {
      let load = (): void => undefined;
      const loaded = new Promise<void>((resolve) => (load = resolve));
      await page.route('**/scalar.js', (route) => loaded.then(() => route.continue()));
      await page.goto(`${url}/docs`, { waitUntil: 'commit' });
      const line = page.locator('.loading');
      await line.waitFor();
      expect(await line.textContent()).toBe('Loading the reference …');
      load();
      await page.waitForSelector('h1');
      await line.waitFor({ state: 'hidden' });

      await page.route('**/openapi.json', (route) => route.abort());
      await page.reload();
      await line.getByText('The reference cannot be loaded now').waitFor();
      expect(errors.splice(0)).toEqual(['Failed to fetch']);
    });

    it('shows samples in several languages', async () => {
      const operation = await openOperation(page, url, 'health/GET/health');
      await operation.getByRole('button', { name: /^Change code sample language/ }).click();
      await page.getByRole('option', { name: 'Requests' }).first().click();

      await operation.getByText('requests.get(').waitFor();
      expect(await operation.innerText()).toContain(`${url}/health`);
    });

    it('is searched by the words of paths and summaries', async () => {
      await openOperation(page, url, ME);
      await page.keyboard.press('Control+k');
      const query = page.getByRole('combobox', { name: 'search' });
      await query.fill('session cookie');
      const found = page.getByRole('option');
      await found.first().waitFor();

      expect(await found.first().innerText()).toContain('/auth/session/');
      await query.fill('nothing has these words');
      await page.getByText('No results found').waitFor();
      await page.keyboard.press('Escape');
    });

    it('has the errors of every operation once, and a link to all', async () => {
      const statusesOf = async (operation: string) => {
        const section = await openOperation(page, url, operation);
        return (await section.getByRole('list', { name: 'Responses' }).innerText()).match(/^\d{3}$/gm);
      };

      expect(await statusesOf(ME)).toEqual(['200', '401']);
      // They have reasons of their own.
      expect(await statusesOf('health/GET/health/ready')).toEqual(['200', '503']);
      expect(await statusesOf('accounts/POST/auth/change-password/')).toContain('429');
      const description = page.getByText('Each operation may return');
      for (const code of ['RATE_LIMITED', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'])
        expect(await description.innerText()).toContain(code);
      expect(await description.getByRole('link').getAttribute('href')).toBe('/guides/errors');
    });

    it('logs in, shows who is logged in after a reload too, and stores no secret', async () => {
      const email = 'reader@example.com';
      await api.accounts.register(email);
      const stored = () => page.evaluate<string>('localStorage.getItem("session")');
      const all = () => page.evaluate<string>('JSON.stringify([{...localStorage}, {...sessionStorage}])');
      await openOperation(page, url, ME);
      await page.click('#session a:text("Log in")');
      await logIn(page, email, 'wrong password');
      const { body } = await api.post('/auth/login/', { email, password: 'wrong password' });
      await page.waitForSelector(`[role=alert]:has-text("${body.error.message}.")`);
      await logIn(page, email);
      // The login leads back.
      await page.waitForURL(`${url}/docs#tag/${ME}`);
      await page.reload();
      await page.waitForSelector(`#session [title="${email}"]:has-text("Ada")`);
      const dialog = await tryOut(page.locator(`section[id$="tag/${ME}"]`));
      await sendTo(dialog, '200 OK');
      // The cookie cannot be read by scripts, and nothing but the time of the login is kept.
      expect(await stored()).toMatch(/^\d{13}$/);
      expect(await all()).not.toMatch(/token|bearer|csrf|authorization/i);
      expect(await page.evaluate('document.cookie')).toBe('');

      await logOutElsewhere(page);
      await sendTo(dialog, '401 Unauthorized');
      expect(await stored()).toBe(null);
    });

    it('makes changes as who is logged in, and shows no credential of the session', async () => {
      const email = 'changer@example.com';
      await api.accounts.register(email);
      const operation = await openOperation(page, url, CHANGE_ME);
      await logInByHeader(page, email);
      const dialog = await tryOut(operation);
      await dialog
        .getByRole('region', { name: 'Request' })
        .getByRole('textbox')
        .last()
        .fill('{"name": "Grace"}');
      await sendTo(dialog, '200 OK');
      await dialog.getByRole('button', { name: /^Code Snippet/ }).click();
      await dialog.getByRole('button', { name: /^Request Headers/ }).click();
      await dialog.getByText('PATCH').last().waitFor();
      const token = await page.evaluate<string>(
        `fetch('/auth/session/').then((reply) => reply.json()).then((session) => session.csrf_token)`,
      );

      const { access } = await api.accounts.login(email);
      expect((await api.get('/auth/me/', bearer(access))).body.name).toBe('Grace');
      expect(token.length).toBeGreaterThan(20);
      expect(await page.content()).not.toContain(token);
      expect(await dialog.innerText()).not.toMatch(/csrf/i);
    });

    it('calls with a token that is typed in, instead of the session', async () => {
      for (const name of ['typist', 'typed']) await api.accounts.register(`${name}@example.com`);
      const { access } = await api.accounts.login('typed@example.com');
      const operation = await openOperation(page, url, CHANGE_ME);
      await logInByHeader(page, 'typist@example.com');
      const dialog = await tryOut(operation);
      await dialog.getByRole('textbox', { name: 'Bearer Token' }).fill(access);
      await sendTo(dialog, '200 OK');

      await dialog.getByText('typed@example.com').waitFor();
      expect(await dialog.innerText()).not.toContain('typist@example.com');
    });

    it('follows the color scheme, also when it changes, and fits a small screen', async () => {
      const small = await open(`${url}/docs`, { viewport: { width: 390, height: 800 }, colorScheme: 'dark' });
      const red = (selector: string) =>
        small.evaluate<number>(
          `Number(/\\d+/.exec(getComputedStyle(document.querySelector('${selector}')).backgroundColor)[0])`,
        );
      await openOperation(small, url, CHANGE_ME);

      expect(await red('body')).toBeLessThan(128);
      expect(await red('.scalar-app')).toBeLessThan(128);
      expect(await small.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);

      await small.emulateMedia({ colorScheme: 'light' });
      await until('the page is light', async () => (await red('body')) >= 128);
      expect(await red('.scalar-app')).toBeGreaterThanOrEqual(128);
    });
  });
});
