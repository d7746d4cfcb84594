import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { PASSWORD, startApi, type TestApi } from './support/api.js';
import { hasBrowser, launchBrowser } from './support/browser.js';
import { freePort } from './support/free-port.js';
import { Google } from './support/social/google.js';
import { STORES } from './support/stores.js';

/** A minimal front end: exchanges the code in its address for tokens, and shows the e-mail of the account. */
const pageFor = (
  api: string,
) => `<!doctype html><title>Front end</title><p id="who">nobody</p><script type="module">
  const code = new URL(location).searchParams.get('code');
  if (code) {
    const reply = await fetch('${api}/auth/social/exchange/', {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ code }),
    });
    const { access } = await reply.json();
    const me = await fetch('${api}/auth/me/', { headers: { authorization: 'Bearer ' + access } });
    who.textContent = (await me.json()).email ?? reply.status;
  }
</script>`;

(hasBrowser ? describe : describe.skip)('in a browser', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  describe.each(STORES)('on %s', (store) => {
    let api: TestApi;
    let google: Google;
    let frontEnd: Server;
    let url: string;
    let origin: string;
    let context: BrowserContext;
    let page: Page;
    beforeAll(async () => {
      const [port, frontPort] = [await freePort(), await freePort()];
      url = `http://127.0.0.1:${port}`;
      origin = `http://127.0.0.1:${frontPort}`;
      google = await Google.start(`${url}/auth/social/google/callback/`);
      google.addPerson('ada');
      frontEnd = createServer((_, reply) => reply.setHeader('content-type', 'text/html').end(pageFor(url)));
      frontEnd.listen(frontPort, '127.0.0.1');
      api = await startApi(store, {
        ...google.settings,
        PUBLIC_URL: url,
        CORS_ORIGINS: origin,
        SOCIAL_LOGIN_REDIRECT: `${origin}/welcome`,
      });
      await api.app.listen(port, '127.0.0.1');
      context = await browser.newContext();
      page = await context.newPage();
    });
    afterAll(async () => {
      await context?.close();
      await api.stop();
      await google.stop();
      frontEnd.closeAllConnections();
      frontEnd.close();
    });

    it('the front end shows the account after a login at Google', async () => {
      await page.goto(`${url}/auth/social/google/`);
      expect(new URL(page.url()).origin).toBe(google.issuer);
      await page.fill('[name=login]', 'ada');
      await page.fill('[name=password]', 'a password at Google');
      await page.click('[type=submit]');
      await page.click('[type=submit]:text("Continue")');

      await page.waitForURL(`${origin}/welcome?code=*`);
      await page.waitForSelector('text=ada@example.com');
      expect(await context.cookies(url)).not.toContainEqual(
        expect.objectContaining({ name: 'social-login' }),
      );

      await page.reload();
      await page.waitForSelector('text=400');
    });

    it('a callback address does not work in another browser', async () => {
      await context.route('**/auth/social/google/callback/**', (route) => route.abort());
      const request = page.waitForRequest('**/auth/social/google/callback/**');
      await page.goto(`${url}/auth/social/google/`).catch(() => undefined);
      const address = (await request).url();
      await context.unrouteAll();

      const victim = await browser.newContext();
      const reply = await (await victim.newPage()).goto(address);

      expect(reply!.status()).toBe(400);
      await victim.close();
    });

    it('a page of an allowed origin uses the session cookie, and scripts cannot read it', async () => {
      await api.accounts.register('bob@example.com');
      await page.goto(origin);

      const seen = await page.evaluate(
        async ({ api: base, password }) => {
          const call = (method: string, path: string, headers = {}, body?: object) =>
            fetch(`${base}${path}`, {
              method,
              credentials: 'include',
              headers: { ...(body && { 'content-type': 'application/json' }), ...headers },
              ...(body && { body: JSON.stringify(body) }),
            });
          const login = { email: 'bob@example.com', password };
          const session: any = await (await call('POST', '/auth/session/', {}, login)).json();
          const csrf = { 'x-csrf-token': session.csrf_token };
          return {
            cookie: (globalThis as any).document.cookie,
            me: ((await (await call('GET', '/auth/me/')).json()) as any).email,
            withoutToken: (await call('PATCH', '/auth/me/', {}, { name: 'Eve' })).status,
            withToken: (await call('PATCH', '/auth/me/', csrf, { name: 'Bob' })).status,
            end: (await call('DELETE', '/auth/session/', csrf)).status,
            after: (await call('GET', '/auth/session/')).status,
          };
        },
        { api: url, password: PASSWORD },
      );

      expect(seen).toEqual({
        cookie: '',
        me: 'bob@example.com',
        withoutToken: 403,
        withToken: 200,
        end: 204,
        after: 401,
      });
    });
  });
});
