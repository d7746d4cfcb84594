import { afterAll, beforeAll, describe } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startApi, type TestApi } from './api.js';
import { describeInBrowser } from './in-browser.js';
import { logIn } from './log-in.js';
import { STORES } from './stores.js';

/** A superuser. */
export const ROOT = 'root@example.com';

/** The console of an application that listens. */
export interface TestConsole {
  readonly api: TestApi;
  readonly url: string;
  /** What its pages have reported in the present test. */
  readonly errors: string[];
  /**
   * Opens a part of the pages, after a login.
   *
   * @param path such as `/admin/#/posts`
   */
  open(path: string, email?: string): Promise<Page>;
}

/** Tests of the console in a real browser, on each database. */
export function describeConsole(name: string, tests: (of: () => TestConsole) => void): void {
  describeInBrowser((openPage, errors) => {
    describe.each(STORES)(`${name} on %s`, (store) => {
      let shown: TestConsole;
      beforeAll(async () => {
        const api = await startApi(store);
        await api.accounts.register(ROOT, { name: 'Grace' });
        await api.accounts.makeSuperuser(ROOT);
        const url = await api.listen();
        const open = async (path: string, email = ROOT) => {
          const page = await openPage(url + path);
          await logIn(page, email);
          return page;
        };
        shown = { api, url, errors, open };
      });
      afterAll(() => shown.api.stop());

      tests(() => shown);
    });
  });
}

/** Presses a button of the dialog that is open, and waits until it has closed: what is behind it is hidden until then. */
export async function confirm(page: Page, action: string): Promise<void> {
  const button = page.getByRole('dialog').getByRole('button', { name: action });
  await button.click();
  await button.waitFor({ state: 'detached' });
}
