import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Page, Request } from 'playwright-core';
import { PASSWORD, sessionOf } from './support/accounts.js';
import { startApi, type TestApi } from './support/api.js';
import { freePort } from './support/free-port.js';
import { describeInBrowser } from './support/in-browser.js';
import { logIn } from './support/log-in.js';
import { turnOnFactor } from './support/second-factor.js';
import { Google, logInAtGoogle } from './support/social/google.js';
import { STORES } from './support/stores.js';

describeInBrowser((open) => {
  describe.each(STORES)('the account page with a provider on %s', (store) => {
    let api: TestApi;
    let google: Google;
    let url: string;
    beforeAll(async () => {
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      google = await new Google(`${url}/auth/social/google/callback/`).start();
      api = await startApi(store, { ...google.settings, PUBLIC_URL: url });
      await api.app.listen(port, '127.0.0.1');
    });
    afterAll(async () => {
      await api.stop();
      await google.stop();
    });

    const continueWithGoogle = async (page: Page, name: string) => {
      await page.getByRole('button', { name: 'Continue with Google' }).click();
      await logInAtGoogle(page, name);
    };

    it('logs in at a provider, also with a second step', async () => {
      google.addPerson('caller');
      const page = await open(`${url}/account/`);
      const toGoogleAndBack = async () => {
        await continueWithGoogle(page, 'caller');
        await page.waitForURL(({ pathname }) => pathname === '/account/');
      };
      await page.getByRole('button', { name: 'Continue with Google' }).waitFor();
      const calls: string[] = [];
      const sent = new Set<Request>();
      page.on('request', (request) => {
        if (new URL(request.url()).pathname !== '/auth/session/') return;
        sent.add(request);
        calls.push(request.method());
      });
      page.on('requestfinished', (request) => sent.has(request) && calls.push(`${request.method()} done`));
      await toGoogleAndBack();
      await page.getByText('caller@example.com').waitFor();
      // The answer about an earlier session cannot end the new one.
      expect(calls).toEqual(['GET', 'GET done', 'POST', 'POST done']);

      const csrf = (await page.evaluate(`fetch('/auth/session/').then((reply) => reply.json())`)) as any;
      const [cookie] = await page.context().cookies(url);
      const headers = { cookie: `${cookie!.name}=${cookie!.value}`, 'x-csrf-token': csrf.csrf_token };
      const { recovery_codes } = await turnOnFactor(api, headers);
      await page.context().clearCookies();
      await page.goto(`${url}/account/`);
      await toGoogleAndBack();
      await page.getByLabel('Code').fill(recovery_codes[0]!);
      await page.keyboard.press('Enter');
      await page.getByText('caller@example.com').waitFor();
    });

    it('leads back to the console, where a login at a provider began', async () => {
      google.addPerson('visitor', { email: 'visitor@example.com' });
      const page = await open(`${url}/admin/#/health`);
      await continueWithGoogle(page, 'visitor');
      await page.getByRole('heading', { name: 'For staff only' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/admin/');
    });

    it('links an identity, and says why it links none', async () => {
      google.addPerson('owner', { email: 'owner.at@example.com' });
      const link = async (page: Page) => {
        await page.getByRole('button', { name: 'Link Google' }).click();
        await logInAtGoogle(page, 'owner');
        await page.waitForURL(`${url}/account/#/identities`);
      };
      const openAs = async (email: string) => {
        await api.accounts.register(email);
        await api.accounts.admin().verifyEmail(email);
        const page = await open(`${url}/account/#/identities`);
        await logIn(page, email);
        return page;
      };
      const first = await openAs('linking@example.com');
      await link(first);
      await first.getByText('Google is linked.').waitFor();
      await first.getByRole('button', { name: 'Remove the identity at Google' }).waitFor();
      const second = await openAs('linking.too@example.com');
      await link(second);
      await second.getByText('This identity is linked to another account.').waitFor();
    });

    it('says why a login at a provider has failed', async () => {
      await api.accounts.register('waiting@example.com');
      google.addPerson('waiting', { email: 'waiting@example.com' });
      const page = await open(`${url}/account/`);
      await page.getByRole('button', { name: 'Continue with Google' }).click();
      await page.getByText('[ Cancel ]').click();
      await page.getByText('The provider did not confirm the login.').waitFor();
      await continueWithGoogle(page, 'waiting');
      await page.getByText('An account with your e-mail address exists.').waitFor();
      expect(page.url()).toBe(`${url}/account/`);
    });

    it('says that a provider cannot be used', async () => {
      const page = await open(`${url}/account/`);
      await page.route(`${url}/auth/social/google/?**`, (route) =>
        route.fulfill({ status: 302, headers: { location: `${url}/account/?error=SERVICE_UNAVAILABLE` } }),
      );
      await page.getByRole('button', { name: 'Continue with Google' }).click();
      await page.getByText('The provider cannot be used at the moment.').waitFor();
    });

    it('lets another page of the same origin link and remove an identity', async () => {
      google.addPerson('linker', { email: 'elsewhere@example.com' });
      await api.accounts.register('linker@example.com');
      await api.accounts.admin().verifyEmail('linker@example.com');
      const page = await open(`${url}/account/`);
      const login = await api.post('/auth/session/', { email: 'linker@example.com', password: PASSWORD });
      const session = sessionOf(login);
      const [name, value] = session.cookie.cookie.split('=') as [string, string];
      await page.context().addCookies([{ name, value, url }]);
      const call = (method: string, path: string) =>
        page.evaluate(
          async ({ method: verb, path: where, csrf }) => {
            const reply = await fetch(where, { method: verb, headers: { 'x-csrf-token': csrf } });
            return { status: reply.status, body: (await reply.json().catch(() => undefined)) as any };
          },
          { method, path, csrf: session.headers['x-csrf-token'] },
        );

      const started = await call('POST', '/auth/social/google/link/');
      await page.goto(started.body.authorization_url);
      await logInAtGoogle(page, 'linker');
      await page.waitForURL(`${url}/auth/social/google/callback/**`);
      const { data } = JSON.parse((await page.textContent('body'))!);
      expect(data).toMatchObject({ provider: 'google' });

      await page.goto(`${url}/account/`);
      expect((await call('GET', '/auth/identities/')).body).toEqual({ data: [data] });
      expect((await call('DELETE', `/auth/identities/${data.id}/`)).status).toBe(204);
      expect((await call('GET', '/auth/identities/')).body).toEqual({ data: [] });
    });
  });
});
