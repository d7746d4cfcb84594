import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Browser, Page } from 'playwright-core';
import { PASSWORD, startApi, type TestApi } from './api.js';
import { hasBrowser, launchBrowser } from './browser.js';
import { STORES } from './stores.js';

/** A superuser. */
export const ROOT = 'root@example.com';

/** The console of an application that listens. */
export interface TestConsole {
  readonly api: TestApi;
  readonly url: string;
  /**
   * Opens a part of the pages, after a login.
   *
   * @param path such as `/admin/#/posts`
   */
  open(path: string, email?: string): Promise<{ page: Page; errors: string[] }>;
}

/** Tests of the console in a real browser, on each database. */
export function describeConsole(name: string, tests: (of: () => TestConsole) => void): void {
  (hasBrowser ? describe : describe.skip)('in a browser', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterAll(() => browser?.close());

    describe.each(STORES)(`${name} on %s`, (store) => {
      let shown: TestConsole;
      beforeAll(async () => {
        const api = await startApi(store);
        await api.accounts.register(ROOT, { name: 'Grace' });
        await api.accounts.makeSuperuser(ROOT);
        await api.app.listen(0, '127.0.0.1');
        const url = await api.app.getUrl();
        shown = { api, url, open: (path, email = ROOT) => open(browser, url + path, email) };
      });
      afterAll(() => shown.api.stop());

      tests(() => shown);
    });
  });
}

async function open(browser: Browser, url: string, email: string): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      errors.push(message.text());
  });
  await page.goto(url);
  await logIn(page, email);
  return { page, errors };
}

export async function logIn(page: Page, email: string): Promise<void> {
  await page.getByLabel('E-mail').fill(email);
  await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
  await page.keyboard.press('Enter');
}

/** Presses a button of the dialog that is open. */
export const confirm = (page: Page, action: string): Promise<void> =>
  page.getByRole('dialog').getByRole('button', { name: action }).click();
