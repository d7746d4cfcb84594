import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { ERRORS } from '../src/platform/http/errors/errors.js';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { freePort } from './support/free-port.js';
import { describeInBrowser } from './support/in-browser.js';
import { onEach } from './support/on-each.js';
import { ANY_STORE } from './support/stores.js';

/** The commands that the home page shows: a part of each, and of its output. */
const SHOWN: [command: string, output: string][] = [
  ['/v1/posts ', 'HTTP/1.1 201 '],
  ['{ users(limit: 2) { name posts(limit: 2) { title } } }', '"data"'],
  ['/v1/events?limit=3', '"data"'],
  ['/health/ready', '"ok"'],
];

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

onEach('the start page', {}, ({ api }) => {
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
    await api.rows.execute('ALTER TABLE migrations RENAME TO gone');
    try {
      expect((await api.get('/')).body.status).toBe('unavailable');
      expect((await api.get('/', HTML)).text).toMatch(
        /Not ready for requests: database migrations is a table that the database has lost/,
      );
    } finally {
      await api.rows.execute('ALTER TABLE gone RENAME TO migrations');
    }
  });
});

describe('the pages', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [FixtureModule]);
    await api.listen();
  });
  afterAll(() => api.stop());

  it('have an icon at the default path', async () => {
    const { headers, text } = await api.get('/favicon.ico');
    expect(headers['content-type']).toBe('image/svg+xml');
    expect(text).toContain('<svg');
  });

  it.each(['/', '/docs', '/graphql', '/guides', '/guides/errors'])('share one header: %s', async (path) => {
    const { text } = await api.get(path, HTML);
    const [header] = /<header class="site-header">.*?<\/header>/s.exec(text)!;
    for (const page of ['/', '/docs', '/graphql', '/guides']) expect(header).toContain(`<a href="${page}"`);
    expect(header.match(/aria-current="\w+"/g)).toEqual([
      path === '/guides/errors' ? 'aria-current="true"' : 'aria-current="page"',
    ]);
  });

  it.each([
    ['/nowhere', HTML],
    ['/v1/dummies//', HTML],
    ['/v1/dummies//1', HTML],
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
    expect(await api.get('/v1/dummies/999', HTML)).toBeError('NOT_FOUND');
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

    expect(commands).toEqual(SHOWN.map(([command]) => expect.stringContaining(command)));
    expect(outputs).toEqual(SHOWN.map(([, output]) => expect.stringContaining(output)));
  });

  it('have a preview and an icon for others who show them, and rules for search engines', async () => {
    const { text } = await api.get('/', HTML);
    const image = /<meta property="og:image" content="http:\/\/[^/]+([^"]+)"/.exec(text)![1]!;
    const icon = /<link rel="apple-touch-icon" href="([^"]+)"/.exec(text)![1]!;
    for (const path of [image, icon]) expect((await api.get(path)).headers['content-type']).toBe('image/png');
    const { description: about } = JSON.parse(readFileSync('package.json', 'utf8'));
    for (const path of ['/', '/docs', '/graphql', '/guides', '/account/', '/nowhere'])
      expect((await api.get(path, HTML)).text).toContain(`<meta name="description" content="${about}"`);
    const robots = await api.get('/robots.txt');
    expect(robots.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(robots.text).toContain('Disallow: /v1/');
  });

  it('say who may write, and show commands that everyone may run', async () => {
    const other = await startApi(ANY_STORE, { WRITE_ACCESS: 'staff' });
    const { text } = await other.get('/', HTML);
    await other.stop();

    expect(text).toContain('Staff may write');
    expect(text).not.toContain('Create a post');
    expect(text.match(/<code>curl /g)).toHaveLength(SHOWN.length);
  });

  it('do not lead to an account page if a front end has it', async () => {
    const other = await startApi(ANY_STORE, { ACCOUNT_LINKS_URL: 'https://app.example.com/links' });
    const paths = ['/account/', '/.well-known/change-password'];
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

    expect(text).toContain(`data-password-policy="${policy}"`);
    expect(text).toContain(`data-registration="${registration}"`);
    expect(text).not.toContain('<!--');
  });

  it('include guides without broken links, also from the other pages and the reference', async () => {
    const pages = new Map<string, string>();
    const broken: string[] = [];
    const textOf = async (path: string): Promise<string> => {
      if (pages.has(path)) return pages.get(path)!;
      const { status, text } = await api.get(path, HTML);
      pages.set(path, text);
      if (status !== 200) broken.push(path);
      if (!/^\/guides(\/|$)(?!assets)/.test(path)) return text;
      for (const [, link] of text.matchAll(/<a\b[^>]* href="([/#][^"]*)"/g)) await follow(link!, path);
      return text;
    };
    const follow = async (link: string, from: string): Promise<void> => {
      const [path, anchor] = link.split('#');
      const text = await textOf(path || from);
      // The page of an account has its sections after the hash.
      if (anchor && path !== '/account/' && !text.includes(` id="${decodeURIComponent(anchor)}"`))
        broken.push(`${from}: ${link}`);
    };
    await textOf('/guides');
    for (const path of ['/', '/nowhere', '/openapi.json'])
      for (const [link] of (await api.get(path, HTML)).text.matchAll(/\/guides\b[\w/-]*(#[\w-]+)?/g))
        await follow(link, path);

    expect(broken).toEqual([]);
    expect([...pages.keys()].filter((path) => path.startsWith('/guides/')).length).toBeGreaterThan(40);
  });

  it('name the guides in links by their titles, not by their files', () => {
    const files = globSync(['README.md', 'docs/**/*.md']);
    expect(files.length).toBeGreaterThan(40);
    for (const file of files)
      expect([file, readFileSync(file, 'utf8').match(/\[`?[\w/.-]+\.md`?\]\(/g)]).toEqual([file, null]);
  });

  it('lead through all guides', async () => {
    const index = (await api.get('/guides', HTML)).text;
    const listed = [...index.matchAll(/<li><a href="([^"]+)">[^<]+<\/a><p>([^<]+)<\/p>/g)];
    expect(listed.length).toBeGreaterThan(25);
    for (const [, , about] of listed) expect(about).toMatch(/^(?!Np[mx] )[A-Z]/);

    const visited: string[] = [];
    for (let path = listed[0]![1]; path !== undefined;) {
      const { text } = await api.get(path, HTML);
      visited.push(path);
      path = /<a class="[^"]*pager-link next" href="([^"]+)"/.exec(text)?.[1];
    }
    expect(visited).toEqual(listed.map(([, path]) => path));
    expect(visited.filter((path) => path.includes('/decisions'))).toEqual([]);
    const decisions = (await api.get('/guides/decisions', HTML)).text;
    const records = globSync('docs/decisions/*.md').length;
    expect(decisions.match(/<li><a href="\/guides\/decisions\/\d{4}-/g)).toHaveLength(records);
  });

  it('highlight code when they are built, and link to each of their headings', async () => {
    const { text } = await api.get('/guides/graphql', HTML);

    expect(text).toMatch(/<span style="--shiki-light:#\w+;--shiki-dark:#\w+;">\s*&quot;schema&quot;<\/span>/);
    const headings = [...text.matchAll(/<h[2-6] id="([^"]+)"/g)].map(([, id]) => id!);
    expect(headings.length).toBeGreaterThan(5);
    for (const id of headings) expect(text).toContain(`<a class="header-anchor" href="#${id}"`);
  });

  it('allow the inline scripts of the guides by their hashes, and no others', async () => {
    const { text, headers } = await api.get('/guides/http', HTML);
    const [, sources] = /script-src ([^;]+)/.exec(String(headers['content-security-policy']))!;
    const hashes = [...text.matchAll(/<script(?![^>]* src=)[^>]*>(.*?)<\/script>/gs)].map(
      ([, script]) => `'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
    );

    expect(hashes.length).toBeGreaterThan(0);
    expect(sources!.split(' ').toSorted()).toEqual(["'self'", ...hashes].toSorted());
    expect((await api.get('/')).headers['content-security-policy']).not.toContain('unsafe-inline');
  });

  it.each(['nowhere', '..%2f..%2fpackage.json', 'assets/none.js', '404', '%ff'])(
    'have no guide and no file at /guides/%s',
    async (path) => {
      expect(await api.get(`/guides/${path}`)).toBeError('NOT_FOUND');
      expect(await api.get(`/app/assets/${path}`)).toBeError('NOT_FOUND');
    },
  );

  it('have files of the app that browsers keep for good, because their names change', async () => {
    const { text } = await api.get('/account/', HTML);
    const script = await api.get(/(?<=src="\.\.)\/app\/assets\/[^"]+/.exec(text)![0], {
      'accept-encoding': 'br',
    });
    expect(script.headers).toMatchObject({
      'cache-control': 'public, max-age=31536000, immutable',
      'content-encoding': 'br',
    });
  });

  it('have the guides with and without a trailing slash', async () => {
    for (const path of ['/guides', '/guides/http', '/guides/decisions', '/guides/decisions/0015-pages'])
      expect((await api.get(`${path}/`, HTML)).text).toBe((await api.get(path, HTML)).text);
  });

  it('explain every code of errors at its name', async () => {
    const { text } = await api.get('/guides/errors');
    for (const code of Object.keys(ERRORS)) expect(text).toContain(`id="${code.toLowerCase()}"`);
  });

  describeInBrowser((open, errors) => {
    /** Searches the guides, by keyboard. */
    const search = async (query: string): Promise<Page> => {
      const page = await open(`${await api.app.getUrl()}/guides`);
      await page.waitForLoadState('networkidle');
      await page.keyboard.press('/');
      await page.fill('#localsearch-input', query);
      return page;
    };

    it('find sections of the guides, by keyboard', async () => {
      const page = await search('verify tokens service');
      await page.waitForSelector('.results li:first-child:has-text("Verify tokens in another service")');
      await page.keyboard.press('Enter');
      await page.waitForURL('**/guides/tokens#verify-tokens-in-another-service');
      const current = page.locator('.VPSidebar a[aria-current=page]');
      await current.waitFor();
      expect(await current.allTextContents()).toEqual(['Tokens']);
      await page.keyboard.press('/');
      await page.fill('#localsearch-input', 'no such words anywhere');
      await page.waitForSelector('.results:has-text("No results")');
      await page.keyboard.press('Escape');
      await page.waitForSelector('#localsearch-input', { state: 'detached' });
    });

    it.each([
      ['rate limit', 'http#rate-limit'],
      ['backup', 'operations#backups'],
      ['pagination', 'posts#the-list'],
      ['idempotency key', 'idempotency'],
      ['JWT_SECRET', 'configuration#jwt_secret'],
      ['How do I delete an account', 'accounts#deleting-an-account'],
      ['page through posts', 'posts#the-list'],
      ['idempotancy', 'idempotency'],
    ])('find the guide first, and decisions last: %s', async (query, guide) => {
      const page = await search(query);
      await page.waitForSelector('.results a');
      const found = await page
        .locator('.results a')
        .evaluateAll((links) =>
          links
            .map((link) => link as unknown as { pathname: string; hash: string })
            .map(({ pathname, hash }) => pathname + hash),
        );

      expect(found[0]).toBe(`/guides/${guide}`);
      const decisions = found.filter((path) => path.includes('/decisions/'));
      expect(found.slice(found.length - decisions.length)).toEqual(decisions);
    });

    it('copy code with a button', async () => {
      const permissions = ['clipboard-read', 'clipboard-write'];
      const page = await open(await api.app.getUrl(), { permissions });
      const command = page.locator('.code').last();
      await command.getByRole('button', { name: 'Copy' }).click();
      await command.getByRole('button', { name: 'Copied' }).waitFor();

      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        await command.locator('code').textContent(),
      );
    });

    it('show the health while it changes', async () => {
      const page = await open('about:blank');
      await page.clock.install();
      await page.goto(await api.app.getUrl());
      await page.waitForSelector('.health:text-is("Healthy")');
      await api.rows.execute('ALTER TABLE migrations RENAME TO gone');
      try {
        await page.clock.runFor(10_000);
        await page.waitForSelector('.health.bad:has-text("Not ready for requests: database")');
      } finally {
        await api.rows.execute('ALTER TABLE gone RENAME TO migrations');
      }
      await page.clock.runFor(10_000);
      await page.waitForSelector('.health:not(.bad)');
      expect(await page.textContent('.health')).toBe('Healthy');
      expect(new Set(errors.splice(0))).toEqual(new Set(['503 /health/ready']));
    });

    it('follow the color scheme, and fit a small screen', async () => {
      for (const path of ['/', '/guides', '/guides/errors#invalid_id', '/guides/http']) {
        for (const [colorScheme, isDark] of [
          ['light', false],
          ['dark', true],
        ] as const) {
          const viewport = { width: 400, height: 800 };
          const page = await open((await api.app.getUrl()) + path, { viewport, colorScheme });
          const [red] = /\d+/.exec(
            await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'),
          )!;
          expect(Number(red) < 128).toBe(isDark);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400);
        }
      }
    });
  });
});
