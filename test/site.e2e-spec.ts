import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser } from 'playwright-core';
import { ERRORS } from '../src/platform/http/errors/errors.js';
import { Database } from '../src/platform/database/database.js';
import { startApi, type TestApi } from './support/api.js';
import { hasBrowser, launchBrowser } from './support/browser.js';
import { freePort } from './support/free-port.js';
import { ANY_STORE, STORES } from './support/stores.js';

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

describe.each(STORES)('the start page on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
  });
  afterAll(() => api.stop());

  it('describes the service as a page for browsers and otherwise as JSON, with links for tools (RFC 8631)', async () => {
    const [page, json] = [await api.get('/', HTML), await api.get('/')];

    expect(page).toHaveStatus(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain(version);
    expect(page.text).toContain('Healthy');
    expect(page.text).toContain('Development');
    expect(page.text).toContain('Everyone may write');
    expect(page.text).not.toMatch(
      /<!-- (?!prettier)|(?:src|href)="https?:|<script(?! type="module" src="\/site\/)|<style| style=/,
    );
    expect(json.body).toMatchObject({ name: 'Posts API', version, status: 'ok' });
    for (const { href } of Object.values<any>(json.body.links)) {
      expect(page.text).toContain(`href="${href}"`);
      expect(await api.get(href, HTML)).toHaveStatus(200);
    }
    for (const { headers } of [page, json]) {
      expect(headers['link']).toContain('</openapi.json>; rel="service-desc"');
      expect(headers['link']).toContain('</docs>; rel="service-doc"');
      expect(headers['vary']).toBe('Accept');
    }
    expect(await api.send({ method: 'HEAD', url: '/' })).toHaveStatus(200);
    expect(await api.post('/', {})).toBeError('METHOD_NOT_ALLOWED');
  });

  it('shows when the service is not ready', async () => {
    const { source } = api.app.get(Database);
    await source.query('ALTER TABLE migrations RENAME TO gone');
    try {
      expect((await api.get('/')).body.status).toBe('unavailable');
      expect((await api.get('/', HTML)).text).toMatch(/Not ready for requests: database has lost tables/);
    } finally {
      await source.query('ALTER TABLE gone RENAME TO migrations');
    }
  });
});

describe('the pages', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
    await api.app.listen(0, '127.0.0.1');
  });
  afterAll(() => api.stop());

  it('have an icon at the default path', async () => {
    const { headers, text } = await api.get('/favicon.ico');
    expect(headers['content-type']).toBe('image/svg+xml');
    expect(text).toContain('<svg');
  });

  it.each(['/', '/docs', '/graphql', '/guides', '/guides/errors'])('share one header: %s', async (path) => {
    const { text } = await api.get(path, HTML);
    for (const page of ['/', '/docs', '/graphql', '/guides']) expect(text).toContain(`<a href="${page}"`);
    expect(text.match(/aria-current="page"/g)).toHaveLength(1);
  });

  it.each([
    ['/nowhere', HTML],
    ['/v1/posts//', HTML],
    ['/v1/users//posts', HTML],
    ['/v1/nowhere', { accept: '*/*', 'sec-fetch-mode': 'navigate' }],
    ['/auth/nowhere/', { accept: 'Text/HTML' }],
  ])('have the way back at an unknown address, and its status: %s', async (path, headers) => {
    const page = await api.get(path, headers);

    expect(page).toHaveStatus(404);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringContaining("style-src 'self'"),
      'x-request-id': expect.any(String),
      vary: 'Accept, Sec-Fetch-Mode',
    });
    expect(page.text).toContain('<a href="/">');
    expect(page.text).not.toContain('<!--');
    expect((await api.send({ method: 'HEAD', url: path, headers })).status).toBe(404);
  });

  it('are for navigation only: programs get the envelope, and so do missing resources', async () => {
    for (const accept of ['application/json', '*/*', 'application/json, text/html;q=0.5']) {
      const reply = await api.get('/nowhere', { accept, 'sec-fetch-mode': 'cors' });
      expect(reply).toBeError('NOT_FOUND');
      expect(reply.headers['vary']).toBe('Accept, Sec-Fetch-Mode');
    }
    expect(await api.get('/nowhere')).toBeError('NOT_FOUND');
    expect(await api.get('/v1/posts/999', HTML)).toBeError('NOT_FOUND');
    expect(await api.put('/', {}, HTML)).toBeError('METHOD_NOT_ALLOWED');
  });

  it('do not link to the playground if it is off', async () => {
    const other = await startApi(ANY_STORE, { GRAPHQL_PLAYGROUND: 'off' });
    const [page, docs, json] = [await other.get('/', HTML), await other.get('/docs'), await other.get('/')];
    await other.stop();

    for (const { text } of [page, docs, json]) expect(text).not.toContain('"/graphql"');
  });

  it('show commands that work as they are copied', async () => {
    const port = await freePort();
    const other = await startApi(ANY_STORE, { PUBLIC_URL: `http://127.0.0.1:${port}` });
    await other.app.listen(port, '127.0.0.1');
    const { text } = await other.get('/', HTML);
    const commands = [...text.matchAll(/<pre[^>]*><code>(.*?)<\/code>/gs)].map(([, code]) =>
      code!.replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
    );
    const outputs = await Promise.all(
      commands.map(
        async (command) => (await promisify(execFile)('sh', ['-c', `${command} -sS --fail`])).stdout,
      ),
    );
    await other.stop();

    expect(outputs).toEqual([
      expect.stringMatching(/^HTTP\/1.1 201 /),
      expect.stringContaining('"users"'),
      expect.stringContaining('"data"'),
    ]);
  });

  it('say who may write, and show commands that everyone may run', async () => {
    const other = await startApi(ANY_STORE, { WRITE_ACCESS: 'staff' });
    const { text } = await other.get('/', HTML);
    await other.stop();

    expect(text).toContain('Staff may write');
    expect(text).not.toContain('Create a post');
    expect(text.match(/<code>curl /g)).toHaveLength(3);
  });

  it('do not lead to an account page if a front end has it', async () => {
    const other = await startApi(ANY_STORE, { ACCOUNT_LINKS_URL: 'https://app.example.com/links' });
    const paths = ['/account/', '/.well-known/change-password', '/account/account.js'];
    const missing = await Promise.all(paths.map((path) => other.get(path)));
    const pages = await Promise.all(['/', '/docs', '/graphql'].map((path) => other.get(path, HTML)));
    await other.stop();

    for (const reply of missing) expect(reply).toBeError('NOT_FOUND');
    for (const { text } of pages) expect(text).not.toContain('/account/');
  });

  it.each([
    [{ PASSWORD_POLICY: 'strict', REGISTRATION: 'closed' }, 'strict', 'closed'],
    [{}, 'length', 'open'],
  ])('tell the account page the rules: %j', async (settings, policy, registration) => {
    const other = await startApi(ANY_STORE, settings);
    const { text } = await other.get('/account/', HTML);
    await other.stop();

    expect(text).toContain(`<body data-password-policy="${policy}" data-registration="${registration}">`);
  });

  it('include guides without broken links', async () => {
    const seen = new Set<string>();
    const broken: string[] = [];
    const visit = async (path: string): Promise<void> => {
      if (seen.has(path)) return;
      seen.add(path);
      const { status, text } = await api.get(path, HTML);
      if (status !== 200) broken.push(path);
      for (const [, href] of text.matchAll(/ href="(\/[^"#]*|(?=#))(?:#[^"]*)?"/g)) {
        if (href!.startsWith('/guides')) await visit(href!);
        else if (href !== '' && !seen.has(href!)) {
          seen.add(href!);
          if ((await api.get(href!, HTML)).status !== 200) broken.push(`${path}: ${href}`);
        }
      }
    };
    await visit('/guides');

    expect(broken).toEqual([]);
    expect(seen.size).toBeGreaterThan(40);
  });

  it('lead through all guides, and show where the reader is', async () => {
    const index = (await api.get('/guides', HTML)).text;
    const listed = [...index.matchAll(/<li><a href="([^"]+)">[^<]+<\/a><p>([^<]+)<\/p>/g)];
    expect(listed.length).toBeGreaterThan(25);
    for (const [, , about] of listed) expect(about).toMatch(/^[A-Z]/);

    const visited: string[] = [];
    for (let path = listed[0]![1]; path !== undefined;) {
      const { text } = await api.get(path, HTML);
      expect(text).toContain(`<a href="${path}" aria-current="page">`);
      visited.push(path);
      path = /<a rel="next" href="([^"]+)"/.exec(text)?.[1];
    }
    expect(visited).toEqual(listed.map(([, path]) => path));
    expect(visited.filter((path) => path.includes('/decisions'))).toEqual([]);
    const decisions = (await api.get('/guides/decisions', HTML)).text;
    const records = globSync('docs/decisions/*.md').length;
    expect(decisions.match(/href="\/guides\/decisions\/\d{4}-/g)).toHaveLength(records);
  });

  it('highlight code when they are built, and link to each of their headings', async () => {
    const { text } = await api.get('/guides/events', HTML);

    expect(text).toContain('<span class="hljs-attr">&quot;specversion&quot;</span>');
    const headings = [...text.matchAll(/<h[2-6] id="([^"]+)">/g)].map(([, id]) => id!);
    expect(headings.length).toBeGreaterThan(5);
    for (const id of headings) expect(text).toContain(`<a class="anchor" href="#${id}"`);
  });

  it('explain every code of errors at its name', async () => {
    const { text } = await api.get('/guides/errors');
    for (const code of Object.keys(ERRORS)) expect(text).toContain(`id="${code.toLowerCase()}"`);
  });

  (hasBrowser ? describe : describe.skip)('in a browser', () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchBrowser();
    });
    afterAll(() => browser?.close());

    it('find sections of the guides, by keyboard', async () => {
      const page = await browser.newPage();
      await page.goto(`${await api.app.getUrl()}/guides`);
      await page.keyboard.press('/');
      await page.keyboard.type('verify signature');
      await page.waitForSelector('#results li:first-child:has-text("Verify a signature")');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/guides/events#verify-a-signature');
      await page.fill('#query', 'no such words anywhere');
      await page.waitForSelector('#results:has-text("Nothing was found.")');
      await page.keyboard.press('Escape');

      expect(await page.isVisible('#results')).toBe(false);
      await page.close();
    });

    it('copy code with a button', async () => {
      const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
      const page = await context.newPage();
      await page.goto(await api.app.getUrl());
      const command = page.locator('.code').last();
      await command.getByRole('button', { name: 'Copy' }).click();
      await command.getByRole('button', { name: 'Copied' }).waitFor();

      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        await command.locator('code').textContent(),
      );
      await context.close();
    });

    it('show the health while it changes', async () => {
      const page = await browser.newPage();
      await page.clock.install();
      await page.goto(await api.app.getUrl());
      await page.waitForSelector('.health:text-is("Healthy")');
      const { source } = api.app.get(Database);
      await source.query('ALTER TABLE migrations RENAME TO gone');
      try {
        await page.clock.runFor(10_000);
        await page.waitForSelector('.health.bad:has-text("Not ready for requests: database")');
      } finally {
        await source.query('ALTER TABLE gone RENAME TO migrations');
      }
      await page.clock.runFor(10_000);
      await page.waitForSelector('.health:not(.bad)');
      expect(await page.textContent('.health')).toBe('Healthy');
      await page.close();
    });

    it('follow the color scheme, fit a small screen, and log no errors', async () => {
      const errors: string[] = [];
      for (const path of ['/', '/guides', '/guides/errors#invalid_id', '/guides/http']) {
        for (const [colorScheme, isDark] of [
          ['light', false],
          ['dark', true],
        ] as const) {
          const page = await browser.newPage({ viewport: { width: 400, height: 800 }, colorScheme });
          page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
          await page.goto((await api.app.getUrl()) + path);
          const [red] = /\d+/.exec(
            await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'),
          )!;
          expect(Number(red) < 128).toBe(isDark);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400);
          await page.close();
        }
      }
      expect(errors).toEqual([]);
    });
  });
});
