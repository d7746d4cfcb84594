import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { PASSWORD, startApi, type TestApi } from './support/api.js';
import { ANY_STORE } from './support/stores.js';
import { hasBrowser, launchBrowser } from './support/browser.js';

const SCHEMES = ['light', 'dark'] as const;
const WIDTHS = [390, 768, 1280];

const READER = 'reader@example.com';

/** Logs in by the header, as on every page. */
async function logIn(page: Page): Promise<void> {
  await page.click('#session button:text("Log in")');
  await page.fill('dialog [name=email]', READER);
  await page.fill('dialog [name=password]', PASSWORD);
  await page.click('dialog button[type=submit]');
  await page.waitForSelector('#logout');
}

/** Nothing is opened. */
const ready = () => Promise.resolve();

const tryOut = async (page: Page, id: string, of: string) => {
  await page.click(`#operations-${id} .opblock-summary-control`);
  await page.click(`#operations-${id} .execute`);
  await page.waitForSelector(`#operations-${id} .live-responses-table ${of}`);
};

/** The pages, and what is opened on them. */
const PAGES: [name: string, path: string, open?: (page: Page) => Promise<unknown>][] = [
  ['the home page', '/'],
  ['the list of guides', '/guides'],
  ['a guide', '/guides/events'],
  ['the guide with the widest table', '/guides/authentication#endpoints'],
  ['the code of an error', '/guides/errors#invalid_id'],
  ['the list of decisions', '/guides/decisions'],
  ['a decision', '/guides/decisions/0015-pages'],
  [
    'a search',
    '/guides',
    async (page) => {
      await page.fill('#query', 'idempotency key');
      await page.waitForSelector('#results a');
    },
  ],
  ['a page that does not exist', '/nowhere'],
  ['the login', '/', (page) => page.click('#session button:text("Log in")')],
  ['the home page of somebody', '/', logIn],
  ['the reference with its errors', '/docs', (page) => page.click('.info summary')],
  [
    'an operation with its response',
    '/docs#/Posts',
    async (page) => {
      await tryOut(page, 'Posts-Posts_create_v1', '.response-col_status');
      await page.waitForSelector('.live-responses-table .headerline');
    },
  ],
  [
    'the playground with a response',
    '/graphql',
    async (page) => {
      await page.click('.graphiql-execute-button');
      await page.waitForSelector('.result-window >> text=Ada Lovelace');
    },
  ],
  [
    'the playground with its schema',
    '/graphql',
    async (page) => {
      await page.click('[aria-label="Show Documentation Explorer"]');
      await page.waitForSelector('.graphiql-doc-explorer-content a');
    },
  ],
  ['the login of the account page', '/account/', (page) => page.waitForSelector('[type=password]')],
  [
    'a login that fails',
    '/account/',
    async (page) => {
      await page.fill('[name=email]', READER);
      await page.fill('[name=password]', 'wrong');
      await page.click('button[type=submit]');
      await page.waitForSelector('.message.error');
    },
  ],
  [
    'an account',
    '/account/',
    async (page) => {
      await page.fill('[name=email]', READER);
      await page.fill('[name=password]', PASSWORD);
      await page.click('button[type=submit]');
      await page.getByText('It is off').waitFor();
    },
  ],
  ['a forgotten password', '/account/#forgot'],
  ['a registration', '/account/#register'],
  ['the link to confirm an address', '/account/#action=verify-email&token=x'],
  [
    'the link to reset a password',
    '/account/#action=reset-password&token=x',
    async (page) => {
      await page.fill('#password', 'first programmer');
      await page.waitForSelector('.strength:not([hidden]) span:not(:empty)');
    },
  ],
  ['a link that is incomplete', '/account/#token=x'],
];

(hasBrowser ? describe : describe.skip)('the pages in a browser', () => {
  let api: TestApi;
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
    api = await startApi(ANY_STORE);
    await api.users.create({ name: 'Ada Lovelace' });
    await api.accounts.register(READER);
    await api.app.listen(0, '127.0.0.1');
  });
  afterAll(async () => {
    await browser?.close();
    await api.stop();
  });

  it.each(PAGES.map(([name, path, open = ready]) => [name, path, open] as const))(
    'have no violation that axe finds, fit, and stay on this host: %s',
    async (_, path, open) => {
      const context = await browser.newContext();
      const page = await context.newPage();
      const errors: string[] = [];
      const hosts = new Set<string>();
      page.on('pageerror', ({ message }) => errors.push(message));
      page.on('console', (message) => {
        // The status of a page that does not exist, or of a login that fails.
        if (message.type() === 'error' && !/status of 40[14]/.test(message.text()))
          errors.push(message.text());
      });
      page.on('request', (request) => {
        if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
      });
      await page.goto((await api.app.getUrl()) + path);
      await page.waitForLoadState('networkidle');
      await open(page);

      // Before axe: it copies elements with their styles, which the policy reports.
      expect(errors).toEqual([]);
      await page.evaluate(axe.source);
      const found: unknown[] = [];
      for (const colorScheme of SCHEMES) {
        for (const width of WIDTHS) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 900 });
          const violations = await page.evaluate<unknown[][]>(`axe.run().then(({ violations }) =>
            violations.flatMap(({ id, nodes }) => nodes.map(({ target, any }) => [id, ...target, any[0]?.message])))`);
          found.push(...violations.map((violation) => [colorScheme, width, ...violation].join(' ')));
          const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          if (overflow > 0) found.push(`${colorScheme} ${width} is ${overflow} too wide`);
        }
      }
      expect(found).toEqual([]);
      expect([...hosts]).toEqual([new URL(await api.app.getUrl()).host]);
      await context.close();
    },
  );
});
