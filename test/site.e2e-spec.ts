import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ERRORS } from '../src/common/errors/errors.js';
import { Database } from '../src/database/database.js';
import { startApi, type TestApi } from './support/api.js';
import { hasBrowser, launchBrowser } from './support/browser.js';
import { STORES } from './support/stores.js';

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
    expect(page.text).not.toMatch(/<!-- (?!prettier)|https?:|<script|<style| style=/);
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
      expect((await api.get('/', HTML)).text).toMatch(/Not ready for requests: migrations \d+ still to run/);
    } finally {
      await source.query('ALTER TABLE gone RENAME TO migrations');
    }
  });
});

describe('the pages', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi('SQLite');
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
    const other = await startApi('SQLite', { GRAPHQL_PLAYGROUND: 'off' });
    const [page, docs, json] = [await other.get('/', HTML), await other.get('/docs'), await other.get('/')];
    await other.stop();

    for (const { text } of [page, docs, json]) expect(text).not.toContain('"/graphql"');
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

  it('explain every code at the URL in problem details', async () => {
    const { text } = await api.get('/guides/errors');
    for (const code of Object.keys(ERRORS)) expect(text).toContain(`id="${code.toLowerCase()}"`);
  });

  (hasBrowser ? describe : describe.skip)('in a browser', () => {
    it('follow the color scheme, fit a small screen, and log no errors', async () => {
      const browser = await launchBrowser();
      const errors: string[] = [];
      try {
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
      } finally {
        await browser.close();
      }
      expect(errors).toEqual([]);
    });
  });
});
