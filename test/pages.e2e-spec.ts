import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import axe from 'axe-core';
import type { Page, Request } from 'playwright-core';
import { startApi, type TestApi } from './support/api.js';
import { describeInBrowser } from './support/in-browser.js';
import { logIn, logInByHeader } from './support/log-in.js';
import { openOperation, sendTo, tryOut } from './support/reference-page.js';
import { ANY_STORE } from './support/stores.js';

const SCHEMES = ['light', 'dark'] as const;
const WIDTHS = [390, 768, 1280];

const READER = 'reader@example.com';

const STAFF = 'staff@example.com';

/** Opens a part of the console. */
const console = (path: string, sign: string): [string, (page: Page) => Promise<unknown>] => [
  path,
  async (page) => {
    await logIn(page, STAFF);
    await page.waitForSelector(sign);
  },
];

const section = (path: string, sign: string): [string, string, (page: Page) => Promise<unknown>] => [
  `a section of an account, ${path}`,
  path,
  async (page) => {
    await logIn(page, READER);
    await page.waitForSelector(sign);
  },
];

/** Nothing is opened. */
const ready = () => Promise.resolve();

/** Opens an operation of the reference. */
const operation = (page: Page) => openOperation(page, new URL(page.url()).origin, 'accounts/PATCH/auth/me/');

/**
 * What axe finds in Scalar 1.76, which no setting changes: the bar of small screens is in no landmark; regions, and in the
 * dialog fields, editors, and the main element below, have no name or role of their own.
 */
const IN_OPERATION = ['landmark-unique', 'region'];
/** The first operation in sight has a list of examples as long as it is one of posts. */
const IN_REFERENCE = ['region', ...(existsSync('src/posts') ? ['label-content-name-mismatch'] : [])];
const IN_DIALOG = [
  'aria-allowed-role',
  'aria-input-field-name',
  'aria-prohibited-attr',
  'aria-required-attr',
  'aria-valid-attr-value',
  'landmark-no-duplicate-main',
  'presentation-role-conflict',
  'scrollable-region-focusable',
];

/** The pages, what is opened on them, and the rules of axe that a library breaks there. */
const PAGES: [name: string, path: string, open?: (page: Page) => Promise<unknown>, faults?: string[]][] = [
  ['the home page', '/'],
  ['the list of guides', '/guides'],
  ['a guide', '/guides/extending'],
  ['the guide with the widest table', '/guides/authentication#endpoints'],
  ['the code of an error', '/guides/errors#invalid_id'],
  ['the list of decisions', '/guides/decisions'],
  ['a decision', '/guides/decisions/0015-pages'],
  [
    'a search',
    '/guides',
    async (page) => {
      await page.keyboard.press('/');
      await page.fill('#localsearch-input', 'idempotency key');
      await page.waitForSelector('.results a');
    },
  ],
  ['a page that does not exist', '/nowhere'],
  ['the home page of somebody, after the login', '/', (page) => logInByHeader(page, READER)],
  ['the reference', '/docs', (page) => page.waitForSelector('h1'), IN_REFERENCE],
  ['an operation of the reference', '/docs', operation, IN_OPERATION],
  [
    'an operation with its response',
    '/docs',
    async (page) => sendTo(await tryOut(await operation(page)), '401 Unauthorized'),
    [...IN_OPERATION, ...IN_DIALOG],
  ],
  [
    'a search of the reference',
    '/docs',
    async (page) => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'search' }).fill('session cookie');
      await page.getByRole('option').first().waitFor();
    },
    ['aria-required-attr'],
  ],
  [
    'the playground with a response',
    '/graphql',
    async (page) => {
      await page.click('.graphiql-execute-button');
      await page.waitForSelector('.result-window >> text=data');
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
  [
    'the playground with its examples',
    '/graphql',
    async (page) => {
      await page.click('[aria-label="Show Examples"]');
      await page.waitForSelector('.examples button');
    },
  ],
  ['the login of the account page', '/account/', (page) => page.waitForSelector('[type=password]')],
  [
    'a login that fails',
    '/account/',
    async (page) => {
      await logIn(page, READER, 'wrong');
      await page.waitForSelector('[role=alert] >> text=wrong');
    },
  ],
  section('/account/#/profile', '[name=phone]'),
  section('/account/#/email', 'text=Not verified'),
  section('/account/#/password', '[name=old_password]'),
  section('/account/#/two-step', 'text=It is off'),
  section('/account/#/passkeys', 'text=A passkey logs in'),
  section('/account/#/api-keys', 'text=An API key lets'),
  section('/account/#/logins', 'text=this device'),
  section('/account/#/identities', 'text=With an identity'),
  section('/account/#/orders', 'text=The newest 20 orders'),
  section('/account/#/deletion', 'button:text("Export")'),
  [
    'the form for a new API key',
    '/account/#/api-keys',
    async (page) => {
      await logIn(page, READER);
      await page.click('button:text("Create a key")');
      await page.waitForSelector('[name=expires]');
    },
  ],
  [
    'the console for others than staff',
    '/admin/',
    (page) => logIn(page, READER).then(() => page.waitForSelector('text=For staff only')),
  ],
  ['the webhooks of the console', ...console('/admin/#/webhooks', 'td:has-text("https://example.com/hook")')],
  [
    'a webhook of the console with its deliveries',
    ...console('/admin/#/webhooks/1', 'h2:text("Deliveries")'),
  ],
  ['a new webhook of the console', ...console('/admin/#/webhooks/create', '[name=url]')],
  ['the audit log of the console', ...console('/admin/#/audit', 'td:has-text("POST /v1/webhooks")')],
  ['the accounts of the console', ...console('/admin/#/accounts', `td:has-text("${READER}")`)],
  ['an account of the console', ...console('/admin/#/accounts/1/show', 'text=Two-step login')],
  ['the posts of the console', ...console('/admin/#/posts', 'td:has-text("A title")')],
  ['a post of the console', ...console('/admin/#/posts/1', '[name=title]')],
  ['the users of the console', ...console('/admin/#/users', 'td:has-text("Author")')],
  ['the orders of the console', ...console('/admin/#/orders', 'td:has-text("Tea")')],
  ['the events of the console', ...console('/admin/#/events', 'text=Live')],
  ['the health of the console', ...console('/admin/#/health', 'text=Ready for requests')],
  ['a forgotten password', '/account/#forgot'],
  ['a registration', '/account/#register'],
  ['the link to confirm an address', '/account/#action=verify-email&token=x'],
  [
    'the link to reset a password',
    '/account/#action=reset-password&token=x',
    async (page) => {
      await page.fill('[name=new_password]', 'first programmer');
      await page.waitForSelector('[aria-live] >> text=guess');
    },
  ],
  ['a link that is incomplete', '/account/#token=x'],
];

/** A page learns of its color scheme with the next frame, renders, and then changes its colors within moments. */
const settled = `(async () => {
  for (let frames = 0; frames < 2; frames++) await new Promise(requestAnimationFrame);
  const running = () => document.getAnimations().filter(({ playState }) => playState === 'running');
  while (running().length > 0) await Promise.allSettled(running().map(({ finished }) => finished));
})()`;

/** How many rows the links of the header are in. */
const HEADER_ROWS = `[...document.querySelectorAll('.site-header a:not(.skip-link), .site-header button')]
  .map((each) => each.getBoundingClientRect())
  .filter(({ width }) => width > 0)
  .toSorted((a, b) => a.top - b.top)
  .reduce(([rows, end], { top, bottom }) => (top < end ? [rows, end] : [rows + 1, bottom]), [0, 0])[0]`;

describeInBrowser((openPage, errors) => {
  let api: TestApi;
  let url: string;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
    await api.accounts.register(READER);
    const headers = await api.accounts.logInNewStaff(STAFF);
    await api.post('/v1/webhooks', { url: 'https://example.com/hook', types: ['*'] }, headers);
    await api.post('/v1/posts', { title: 'A title', content: 'Some content' });
    await api.post('/v1/orders', { item: 'Tea' }, { 'idempotency-key': 'k' });
    url = await api.listen();
  });
  afterAll(() => api.stop());

  it.each(PAGES.map(([name, path, open = ready, faults = []]) => [name, path, open, faults] as const))(
    'have no violation that axe finds, fit, and stay on this host: %s',
    async (_, path, open, faults) => {
      const requests: Request[] = [];
      const onRequest = (request: Request) => requests.push(request);
      const page = await openPage(url + path, { onRequest });
      await page.waitForLoadState('networkidle');
      await open(page);

      const responses = await Promise.all(requests.map((request) => request.response()));
      // Nobody is logged in, a login fails, or a page does not exist.
      const statuses = responses.map((response) => response?.status() ?? 0);
      expect(statuses.filter((status) => status >= 400 && status !== 401 && status !== 404)).toEqual([]);
      // Before axe: it copies elements with their styles, which the policy reports.
      expect(errors).toEqual([]);
      await page.evaluate(axe.source);
      const found: unknown[] = [];
      const ofLibrary = new Set<string>();
      for (const colorScheme of SCHEMES) {
        for (const width of WIDTHS) {
          await page.emulateMedia({ colorScheme });
          await page.setViewportSize({ width, height: 900 });
          await page.evaluate(settled);
          const violations = await page.evaluate<string[][]>(`axe.run().then(({ violations }) =>
            violations.flatMap(({ id, nodes }) => nodes.map(({ target, any }) => [id, ...target, any[0]?.message])))`);
          for (const [rule, ...where] of violations) {
            if (faults.includes(rule!)) ofLibrary.add(rule!);
            else found.push([colorScheme, width, rule, ...where].join(' '));
          }
          const overflow = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
          const rows = await page.evaluate<number>(HEADER_ROWS);
          if (rows > 1) found.push(`${colorScheme} ${width} has ${rows} rows in the header`);
          if (overflow > 0) found.push(`${colorScheme} ${width} is ${overflow} too wide`);
        }
      }
      expect(found).toEqual([]);
      // A rule that a library does not break any longer is removed from the list.
      expect([...ofLibrary].toSorted()).toEqual(faults.toSorted());
      const hosts = requests
        .map((request) => new URL(request.url()))
        .filter(({ protocol }) => protocol !== 'data:')
        .map(({ host }) => host);
      expect([...new Set(hosts)]).toEqual([new URL(url).host]);
      errors.length = 0;
    },
  );
});
