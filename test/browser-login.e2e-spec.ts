import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:http';
import { PASSWORD } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { freePort } from './support/free-port.js';
import { describeInBrowser } from './support/in-browser.js';
import { Google, logInAtGoogle } from './support/social/google.js';
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

describeInBrowser((open) => {
  describe.each(STORES)('on %s', (store) => {
    let api: TestApi;
    let google: Google;
    let frontEnd: Server;
    let url: string;
    let origin: string;
    beforeAll(async () => {
      const [port, frontPort] = [await freePort(), await freePort()];
      url = `http://127.0.0.1:${port}`;
      origin = `http://127.0.0.1:${frontPort}`;
      google = await new Google(`${url}/auth/social/google/callback/`).start();
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
    });
    afterAll(async () => {
      await api.stop();
      await google.stop();
      frontEnd.closeAllConnections();
      frontEnd.close();
    });

    it('the front end shows the account after a login at Google', async () => {
      const page = await open(`${url}/auth/social/google/`);
      expect(new URL(page.url()).origin).toBe(google.issuer);
      await logInAtGoogle(page, 'ada');

      await page.waitForURL(`${origin}/welcome?code=*`);
      await page.waitForSelector('text=ada@example.com');
      expect(await page.context().cookies(url)).not.toContainEqual(
        expect.objectContaining({ name: 'social-login' }),
      );

      await page.reload();
      await page.waitForSelector('text=400');
    });

    it('a page of an allowed origin uses the session cookie, and scripts cannot read it', async () => {
      await api.accounts.register('bob@example.com');
      const page = await open(origin);

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
