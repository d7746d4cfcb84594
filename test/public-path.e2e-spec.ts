import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { describeInBrowser } from './support/in-browser.js';
import { logIn, logInByHeader } from './support/log-in.js';
import { openOperation, sendTo, tryOut } from './support/reference-page.js';
import { Google, logInAtGoogle } from './support/social/google.js';
import { STORES, type StoreName } from './support/stores.js';
import { StrippingProxy } from './support/stripping-proxy.js';

const BASE = '/some/api';
const HTML = { accept: 'text/html,*/*;q=0.8' };

interface BehindProxy {
  readonly api: TestApi;
  readonly proxy: StrippingProxy;
  readonly google: Google;
  /** The address of the service, below a path of the proxy. */
  readonly url: string;
  stop(): Promise<void>;
}

async function startBehindProxy(store: StoreName): Promise<BehindProxy> {
  const proxy = await StrippingProxy.start(BASE);
  const { url } = proxy;
  const google = await new Google(`${url}/auth/social/google/callback/`).start();
  const api = await startApi(store, { ...google.settings, PUBLIC_URL: url }, [FixtureModule]);
  proxy.target = Number(new URL(await api.listen()).port);
  const stop = async () => {
    await api.stop();
    await google.stop();
    await proxy.stop();
  };
  return { api, proxy, google, url, stop };
}

/** The addresses in a page, a script, or a document for tools. */
function* addressesIn(type: string, text: string): Generator<string> {
  if (type.includes('text/html'))
    for (const [, address] of text.matchAll(/\s(?:href|src|data-account)="([^"]*)"/g)) yield address!;
  if (type.includes('javascript'))
    for (const [, address] of text.matchAll(/(?:href=\\?["']|["'`])((?:\/\w+)*\/guides\/[\w/-]*)/g))
      yield address!;
  if (type.includes('json')) {
    for (const [, address] of text.matchAll(/\]\((\/[^)]*)\)/g)) yield address!;
    for (const [, address] of text.matchAll(/"href":"([^"]*)"/g)) yield address!;
  }
}

const linksOf = (headers: Headers): string[] =>
  [...(headers.get('link') ?? '').matchAll(/<([^>]*)>/g)].map(([, address]) => address!);

describe.each(STORES)('behind a proxy that takes the path of PUBLIC_URL off, on %s', (store) => {
  let shown: BehindProxy;
  beforeAll(async () => {
    shown = await startBehindProxy(store);
  });
  afterAll(() => shown.stop());

  const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    fetch(new URL(path, shown.url), {
      method,
      redirect: 'manual',
      headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
  const post = (path: string, body: object, headers?: Record<string, string>) =>
    call('POST', BASE + path, body, headers);

  it('leads to everything from its pages', async () => {
    const start = [
      '/',
      '/docs',
      '/docs/',
      '/graphql',
      '/account',
      '/account/',
      '/admin',
      '/admin/',
      '/guides/',
    ];
    const left = [...start, '/openapi.json'].map((path) => BASE + path);
    const seen = new Set(left);
    const from = new Map<string, string>();
    const broken: string[] = [];
    for (const path of left) {
      const response = await call('GET', path, undefined, HTML);
      const text = await response.text();
      if (response.status !== 200) broken.push(`${response.status} ${path}, from ${from.get(path)}`);
      const type = response.headers.get('content-type') ?? '';
      for (const address of [...addressesIn(type, text), ...linksOf(response.headers)]) {
        const url = new URL(address, new URL(path, shown.url));
        if (url.origin !== new URL(shown.url).origin || seen.has(url.pathname)) continue;
        seen.add(url.pathname);
        from.set(url.pathname, path);
        left.push(url.pathname);
      }
    }

    expect(broken).toEqual([]);
    expect(shown.proxy.missed).toEqual([]);
    for (const path of ['/guides/errors', '/site/site.css', '/health/ready', '/favicon.ico'])
      expect(seen).toContain(BASE + path);
    expect([...seen].some((path) => path.startsWith(`${BASE}/guides/assets/chunks/`))).toBe(true);
    expect([...seen].some((path) => path.startsWith(`${BASE}/app/assets/`))).toBe(true);
  }, 60_000);

  it('leads back from a page that does not exist', async () => {
    const response = await call('GET', `${BASE}/nowhere`, undefined, HTML);

    expect(response.status).toBe(404);
    const addresses = [...addressesIn('text/html', await response.text())];
    expect(addresses).toEqual(expect.arrayContaining([`${BASE}/`, `${BASE}/guides`]));
    expect(
      addresses.filter((address) => !address.startsWith(`${BASE}/`) && !address.startsWith('#')),
    ).toEqual([]);
  });

  it('says where it is, to tools and to people', async () => {
    const reference: any = await (await call('GET', `${BASE}/openapi.json`)).json();
    expect(reference.servers).toEqual([{ url: BASE }]);
    const home: any = await (await call('GET', `${BASE}/`)).json();
    expect(home.links.reference.href).toBe(`${BASE}/docs`);
    const page = await (await call('GET', `${BASE}/`, undefined, HTML)).text();
    expect(page).toContain(`location: ${BASE}/v1/posts/1`);
  });

  it('names what it has created, also again, and the further pages of a list', async () => {
    const key = { 'idempotency-key': 'a' };
    for (const [path, body, headers] of [
      ['/v1/dummies', { text: 'A' }, {}],
      ['/v1/dummies/', { text: 'B' }, key],
      ['/v1/dummies/', { text: 'B' }, key],
      ['/v1/stubs', {}, key],
      ['/v1/stubs', {}, key],
    ] as const) {
      const response = await post(path, body, headers);
      expect(response.status).toBe(201);
      const { data }: any = await response.json();
      const found = await call('GET', response.headers.get('location')!);
      expect(await found.json()).toEqual({ data });
    }
    const account = await post('/auth/register/', {
      email: 'ada@example.com',
      name: 'Ada',
      password: 'correct horse',
    });
    expect(account.headers.get('location')).toBe(`${BASE}/auth/me/`);

    const list = await call('GET', `${BASE}/v1/dummies?limit=1`);
    const links = linksOf(list.headers);
    expect(links).toHaveLength(3);
    for (const link of links) expect(link).toMatch(/^\/some\/api\/v1\/dummies\?/);
    expect((await call('GET', links[1]!)).status).toBe(200);
  });

  it('redirects below the path, and keeps the path of cookies', async () => {
    const password = await call('GET', `${BASE}/.well-known/change-password`);
    expect(password.headers.get('location')).toBe(`${BASE}/account/#password`);

    const { data }: any = await (await call('GET', `${BASE}/auth/social/`)).json();
    expect(data).toEqual([{ name: 'google', url: `${BASE}/auth/social/google/` }]);
    const response = await call('GET', data[0].url);
    const provider = new URL(response.headers.get('location')!);
    expect(provider.origin).toBe(shown.google.issuer);
    expect(provider.searchParams.get('redirect_uri')).toBe(`${shown.url}/auth/social/google/callback/`);
    expect(response.headers.get('set-cookie')).toContain('Path=/;');
  });
});

describeInBrowser((open) => {
  describe.each(STORES)('the pages below a path on %s', (store) => {
    let shown: BehindProxy;
    beforeAll(async () => {
      shown = await startBehindProxy(store);
      await shown.api.accounts.register('ada@example.com');
      await shown.api.accounts.admin().setStaff('ada@example.com', true);
    });
    afterAll(() => shown.stop());

    const openAt = (path: string): Promise<Page> => open(shown.url + path);

    it('lead from the home page to the login, and back', async () => {
      const page = await openAt('/');
      await page.getByText('Healthy').waitFor();
      await logInByHeader(page, 'ada@example.com');
      expect(page.url()).toBe(`${shown.url}/`);
      await page.click('#session [title="ada@example.com"]');
      await page.waitForURL(`${shown.url}/account/#/profile`);
    });

    it('send a request of the reference', async () => {
      const page = await openAt('/docs');
      const dialog = await tryOut(await openOperation(page, shown.url, 'health/GET/health'));
      await sendTo(dialog, '200 OK');
      expect(shown.proxy.missed).toEqual([]);
    });

    it('run the operations of the playground', async () => {
      const page = await openAt('/graphql');
      await page.click('.graphiql-execute-button');
      await page.waitForSelector('.result-window >> text=data');
    });

    it('find a guide, and open it without a reload', async () => {
      const page = await openAt('/guides');
      await page.evaluate('window.isSame = true');
      await page.keyboard.press('/');
      await page.fill('#localsearch-input', 'idempotency key');
      await page.click('.results a');
      await page.waitForURL(`${shown.url}/guides/idempotency**`);
      await page.getByRole('heading', { level: 1, name: 'Idempotency' }).waitFor();
      await page.click('.VPSidebar a[href$="/guides/errors"]');
      await page.getByRole('heading', { level: 1, name: 'Errors' }).waitFor();
      expect(await page.evaluate('window.isSame')).toBe(true);
    });

    it('show the console', async () => {
      const page = await openAt('/admin/#/audit');
      await logIn(page, 'ada@example.com');
      await page.getByRole('cell', { name: 'POST /auth/session' }).first().waitFor();
      expect(page.url()).toMatch(/\/some\/api\/admin\/#\/audit/);
    });

    it('log in at a provider', async () => {
      shown.google.addPerson('grace');
      const page = await openAt('/account/');
      await page.getByRole('button', { name: 'Continue with Google' }).click();
      await logInAtGoogle(page, 'grace');
      await page.getByText('grace@example.com').waitFor();
      expect(page.url()).toBe(`${shown.url}/account/#/profile`);
    });
  });
});
