import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page, Request, Route } from 'playwright-core';
import { bearer, PASSWORD, sessionOf, startApi, type TestApi } from './support/api.js';
import { hasBrowser, launchBrowser } from './support/browser.js';
import { freePort } from './support/free-port.js';
import { linkIn, MailServer, tokenIn } from './support/mail-server.js';
import { turnOnFactor } from './support/second-factor.js';
import { Google } from './support/social/google.js';
import { STORES } from './support/stores.js';

const PHONE = { width: 320, height: 640 };

/** Records the requests of a page and its errors. */
function watch(page: Page) {
  const requests: { url: string; method: string; referer: string | undefined }[] = [];
  const errors: string[] = [];
  page.on('request', (request) =>
    requests.push({ url: request.url(), method: request.method(), referer: request.headers()['referer'] }),
  );
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  return { requests, errors };
}

/** A browser logs each status above 399 as an error: of a page that finds out that nobody is logged in, too. */
const withoutStatuses = (errors: readonly string[]) =>
  errors.filter((text) => !text.includes('Failed to load resource'));

(hasBrowser ? describe : describe.skip)('in a browser', () => {
  let browser: Browser;
  let server: MailServer;
  beforeAll(async () => {
    browser = await launchBrowser();
    server = await MailServer.start();
  });
  afterAll(async () => {
    await browser?.close();
    await server.stop();
  });

  describe.each(STORES)('the account page on %s', (store) => {
    let api: TestApi;
    let google: Google;
    let url: string;
    beforeAll(async () => {
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      google = await Google.start(`${url}/auth/social/google/callback/`);
      api = await startApi(store, { ...server.settings, ...google.settings, PUBLIC_URL: url });
      await api.app.listen(port, '127.0.0.1');
    });
    afterAll(async () => {
      await api.stop();
      await google.stop();
    });

    const email = (name: string) => `${name}.${store.toLowerCase()}@example.com`;
    const open = async (link: string, options: BrowserContextOptions = {}) => {
      const context = await browser.newContext(options);
      const page = await context.newPage();
      const seen = watch(page);
      await page.goto(link);
      return { page, context, ...seen };
    };
    const isVerified = async (address: string) =>
      (await api.get('/auth/me/', bearer((await api.accounts.login(address)).access))).body.is_email_verified;

    it('verifies an address only after a click on its button', async () => {
      await api.accounts.register(email('ada'));
      const arrived = await server.next(email('ada'));
      const { page, context, requests, errors } = await open(linkIn(arrived));

      await page.waitForSelector('h1:text("Confirm your e-mail address")');
      expect(await isVerified(email('ada'))).toBe(false);
      expect(requests.map(({ method }) => method)).not.toContain('POST');
      await page.click('button[type=submit]');
      await page.waitForSelector('[role=alert]:has-text("Your e-mail address is confirmed.")');

      expect(await isVerified(email('ada'))).toBe(true);
      expect(await page.isVisible('form')).toBe(false);
      expect(await page.isVisible('a:text("Go to your account")')).toBe(true);
      // The token is only in the body of that one request.
      const token = tokenIn(arrived);
      expect(page.url()).toBe(`${url}/account/#/mail`);
      expect(await page.evaluate('history.length')).toBeLessThanOrEqual(2);
      for (const each of requests) {
        expect(new URL(each.url).origin).toBe(url);
        expect(each.url.replace(/#.*/, '')).not.toContain(token);
        expect(each.referer ?? '').toBe('');
      }
      expect(withoutStatuses(errors)).toEqual([]);
      await context.close();
    });

    it('keeps the form of a link when the page is loaded again, and forgets it after its use', async () => {
      await api.accounts.register(email('reload'));
      const { page, context } = await open(linkIn(await server.next(email('reload'))));
      await page.waitForSelector('h1:text("Confirm your e-mail address")');
      await page.reload();
      await page.click('button:text("Confirm the address")');
      await page.waitForSelector('[role=alert]:has-text("is confirmed.")');
      await page.reload();
      await page.waitForSelector('text=This page needs the link from a mail.');
      expect(await isVerified(email('reload'))).toBe(true);
      await context.close();
    });

    it('explains that a link was used before', async () => {
      await api.accounts.register(email('used'));
      const arrived = await server.next(email('used'));
      await api.post('/auth/email/verify/', { token: tokenIn(arrived) });
      const { page, context } = await open(linkIn(arrived));

      await page.click('button[type=submit]');

      await page.waitForSelector('[role=alert]:has-text("was used before")');
      expect(await page.isVisible('form')).toBe(false);
      expect(await page.isVisible('a:text("Go to your account")')).toBe(true);
      await context.close();
    });

    it('changes an address', async () => {
      await api.accounts.register(email('old'));
      const { access } = await api.accounts.login(email('old'));
      const change = { new_email: email('new'), password: PASSWORD };
      await api.post('/auth/email/change/', change, bearer(access));
      const { page, context } = await open(linkIn(await server.next(email('new'))));

      await page.click('button:text("Use this address")');

      await page.waitForSelector('[role=alert]:has-text("has the new address")');
      expect(await isVerified(email('new'))).toBe(true);
      await context.close();
    });

    it('sets a new password, and explains why one is rejected', async () => {
      await api.accounts.register(email('reset'));
      await server.next(email('reset'));
      await api.post('/auth/password/reset/', { email: email('reset') });
      const { page, context } = await open(linkIn(await server.next(email('reset'))));

      await page.waitForSelector('text=At least 6 characters.');
      await page.fill('input[type=password]', '12345');
      await page.waitForSelector('[aria-live]:has-text("Too short: at least 6 characters")');
      await page.click('button[type=submit]');
      await page.waitForSelector('[role=alert]:has-text("New password must be at least 6")');
      await page.fill('input[type=password]', 'password1');
      await page.waitForSelector('[aria-live]:has-text("easy to guess")');
      await page.fill('input[type=password]', 'a password from the page');
      await page.waitForSelector('[aria-live]:has-text("hard to guess")');
      await page.press('input[type=password]', 'Enter');
      await page.waitForSelector('[role=alert]:has-text("Your password is changed")');

      expect(await page.locator('main input').count()).toBe(0);
      await api.accounts.login(email('reset'), 'a password from the page');
      await page.click('a:text("Go to your account")');
      await page.fill('[name=email]', email('reset'));
      await page.fill('[autocomplete=current-password]', 'a password from the page');
      await page.keyboard.press('Enter');
      await page.waitForSelector(`text=${email('reset')}`);
      await context.close();
    });

    it('explains a link without a token or with an unknown action', async () => {
      for (const fragment of ['#action=verify-email', '#action=toString&token=x', '#token=x']) {
        const { page, context, errors } = await open(`${url}/account/${fragment}`);
        await page.waitForSelector('text=This page needs the link from a mail.');
        expect(await page.isVisible('button')).toBe(false);
        expect(withoutStatuses(errors)).toEqual([]);
        await context.close();
      }
    });

    it.each(['light', 'dark'] as const)('fits a phone, in the %s color scheme', async (colorScheme) => {
      const link = `${url}/account/#action=reset-password&token=${'x'.repeat(43)}`;
      const { page, context } = await open(link, { viewport: PHONE, colorScheme });

      const seen = (await page.evaluate(`(() => {
        const boxes = [...document.querySelectorAll('h1, p, input, button')]
          .map((each) => each.getBoundingClientRect()).filter(({ width }) => width > 0);
        const luminance = (color) => {
          const [r, g, b] = color.match(/[\\d.]+/g).map(Number);
          return 0.299 * r + 0.587 * g + 0.114 * b;
        };
        const styleOf = (element) => getComputedStyle(element);
        return {
          overflow: document.documentElement.scrollWidth - innerWidth,
          right: Math.max(...boxes.map(({ right }) => right)),
          buttonHeight: document.querySelector('button[type=submit]').getBoundingClientRect().height,
          page: luminance(styleOf(document.body).backgroundColor),
          text: luminance(styleOf(document.body).color),
          button: luminance(styleOf(document.querySelector('button[type=submit]')).backgroundColor),
          label: luminance(styleOf(document.querySelector('button[type=submit]')).color),
        };
      })()`)) as Record<string, number>;

      expect(seen['overflow']).toBeLessThanOrEqual(0);
      expect(seen['right']).toBeLessThanOrEqual(PHONE.width);
      expect(seen['buttonHeight']).toBeGreaterThanOrEqual(44);
      expect(seen['page']! > 128).toBe(colorScheme === 'light');
      expect(Math.abs(seen['page']! - seen['text']!)).toBeGreaterThan(125);
      expect(Math.abs(seen['button']! - seen['label']!)).toBeGreaterThan(100);
      await context.close();
    });

    it('leads from a forgotten password to a new one', async () => {
      await api.accounts.register(email('forgetful'));
      await server.next(email('forgetful'));
      const { page, context } = await open(`${url}/account/`);
      await page.click('a:text("Forgot your password?")');
      await page.fill('[autocomplete=username]', email('forgetful'));
      await page.keyboard.press('Enter');
      await page.waitForSelector('text=a mail is on its way');
      await page.goto(linkIn(await server.next(email('forgetful'))));
      await page.fill('[name=new_password]', 'another password');
      await page.keyboard.press('Enter');
      await page.waitForSelector('[role=alert]:has-text("Your password is changed")');

      expect(await api.accounts.login(email('forgetful'), 'another password')).toHaveProperty('access');
      await context.close();
    });

    it('creates an account, and is logged in on all pages', async () => {
      const { page, context } = await open(`${url}/account/#register`);
      await page.fill('[name=name]', 'Grace');
      await page.fill('[name=email]', email('grace'));
      await page.fill('[name=password]', '12345');
      await page.keyboard.press('Enter');
      await page.waitForSelector('[role=alert]:has-text("at least 6")');
      await page.fill('[name=password]', 'a compiler for words');
      await page.keyboard.press('Enter');
      await page.waitForSelector('h1:text("Grace")');
      await page.waitForSelector('text=Not verified');

      for (const path of ['/', '/guides', '/docs', '/graphql']) {
        await page.goto(url + path);
        await page.waitForSelector('#session a:has-text("Grace")');
      }
      await page.click('#session a');
      await page.click('button:text("Log out")');
      await page.waitForSelector('h1:text("Log in")');
      await page.goto(url);
      await page.waitForSelector('#session a:text("Log in")');
      expect((await context.cookies(url)).map(({ name }) => name)).not.toContain('session');
      await context.close();
    });

    it('keeps its links at the address without a slash', async () => {
      const { page, context } = await open(`${url}/account`);
      await page.click('a:text("Forgot your password?")');
      await page.waitForSelector('h1:text("Forgot")');
      await page.goBack();
      await page.waitForSelector('h1:text("Log in")');
      expect(new URL(page.url()).pathname).toBe('/account');
      await context.close();
    });

    it('leads after a login only to pages of this service', async () => {
      await api.accounts.register(email('led'));
      const { page, context, requests, errors } = await open(`${url}/account/`);
      await page.fill('[name=email]', email('led'));
      await page.fill('[name=password]', PASSWORD);
      await page.keyboard.press('Enter');
      await page.waitForSelector('button:text("Log out")');
      for (const to of ['/.//elsewhere.example/', 'https://elsewhere.example/', 'http://[', '//']) {
        await page.goto('about:blank');
        await page.goto(`${url}/account/#/?to=${encodeURIComponent(to)}`);
        await page.waitForSelector('h1');
        await page.waitForLoadState('networkidle');
      }
      expect(requests.filter(({ url: called }) => new URL(called).host === 'elsewhere.example')).toEqual([]);
      expect(withoutStatuses(errors)).toEqual([]);
      await context.close();
    });

    it('does not take a failure of the service for the end of the session', async () => {
      await api.accounts.register(email('patient'));
      const { page, context } = await open(`${url}/account/`);
      await page.fill('[name=email]', email('patient'));
      await page.fill('[name=password]', PASSWORD);
      await page.keyboard.press('Enter');
      await page.waitForSelector('button:text("Log out")');
      await page.route('**/auth/session/', (route) => route.fulfill({ status: 503, body: '' }), { times: 1 });
      await page.reload();
      await page.waitForSelector('button:text("Log out"), h1:text("Log in")');
      expect(await page.locator('h1').textContent()).not.toBe('Log in');
      await context.close();
    });

    it('says that a logout has failed, and keeps the login on the page', async () => {
      await api.accounts.register(email('stuck'));
      const { page, context } = await open(`${url}/account/`);
      await page.fill('[name=email]', email('stuck'));
      await page.fill('[name=password]', PASSWORD);
      await page.click('main button:text-is("Log in")');
      await page.waitForSelector('h1:text("Ada")');
      // As a proxy responds whose service is away.
      const isLogout = (route: Route) =>
        route.request().method() === 'DELETE'
          ? route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad gateway</h1>' })
          : route.fallback();
      await page.route('**/auth/session/', isLogout);
      await page.click('button:text("Log out")');
      await page.waitForSelector('text=The service does not respond.');
      expect(await page.isVisible('h1:text("Ada")')).toBe(true);

      await page.unroute('**/auth/session/');
      await page.click('button:text("Log out")');
      await page.waitForSelector('h1:text("Log in")');
      await context.close();
    });

    it('shows and hides a password', async () => {
      const { page, context } = await open(`${url}/account/#action=reset-password&token=x`);
      await page.fill('[name=new_password]', 'first programmer');
      await page.getByRole('button', { name: 'Show password' }).click();
      expect(await page.getAttribute('[name=new_password]', 'type')).toBe('text');
      await page.getByRole('button', { name: 'Hide password' }).click();
      expect(await page.getAttribute('[name=new_password]', 'type')).toBe('password');
      await context.close();
    });

    it('is where password managers change a password', async () => {
      const reply = await api.get('/.well-known/change-password');
      expect(reply).toHaveStatus(302);
      expect(reply.headers['location']).toBe('/account/#password');

      await api.accounts.register(email('changer'));
      const { page, context } = await open(`${url}/.well-known/change-password`);
      await page.fill('[name=email]', email('changer'));
      await page.fill('[name=password]', PASSWORD);
      await page.keyboard.press('Enter');
      const section = page.getByRole('region', { name: 'Password', exact: true });
      await section.waitFor();
      expect(await section.locator('[autocomplete=username]').inputValue()).toBe(email('changer'));
      await section.locator('[autocomplete=current-password]').fill('wrong');
      await section.locator('[autocomplete=new-password]').fill('another password');
      await page.keyboard.press('Enter');
      await section.getByRole('alert').getByText('password is incorrect').waitFor();
      await section.locator('[autocomplete=current-password]').fill(PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByText('The password is changed').waitFor();

      await api.accounts.login(email('changer'), 'another password');
      await context.close();
    });

    it('works below a path, because links in mails lead there', async () => {
      const { text } = await api.get('/account/');

      expect(text).toMatch(/ src="\.\.\/app\/assets\/account-[\w-]+\.js"/);
      expect(text).not.toMatch(/(?:href|src)="\//);
    });

    it('has a strict content security policy, and is not cached', async () => {
      const reply = await api.get('/account/');

      expect(reply.headers['content-security-policy']).toMatch(/^default-src 'none';script-src 'self';/);
      expect(reply.headers['referrer-policy']).toBe('no-referrer');
      expect(reply.headers['cache-control']).toBe('no-store');
    });

    it('logs in at a provider, also with a second step', async () => {
      const name = `caller.${store.toLowerCase()}`;
      google.addPerson(name);
      const { page, context, errors } = await open(`${url}/account/`);
      const logInAtGoogle = async () => {
        await page.getByRole('button', { name: 'Continue with Google' }).click();
        await page.waitForURL(`${google.issuer}/**`);
        if (await page.locator('[name=login]').isVisible()) {
          await page.fill('[name=login]', name);
          await page.fill('[name=password]', 'a password at Google');
          await page.click('[type=submit]');
        }
        await page.click('[type=submit]:text("Continue")');
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
      await logInAtGoogle();
      await page.getByText(`${name}@example.com`).waitFor();
      // The answer about an earlier session cannot end the new one.
      expect(calls).toEqual(['GET', 'GET done', 'POST', 'POST done']);

      const csrf = (await page.evaluate(`fetch('/auth/session/').then((reply) => reply.json())`)) as any;
      const [cookie] = await context.cookies(url);
      const headers = { cookie: `${cookie!.name}=${cookie!.value}`, 'x-csrf-token': csrf.csrf_token };
      const { recovery_codes } = await turnOnFactor(api, headers);
      await context.clearCookies();
      await page.goto(`${url}/account/`);
      await page.getByRole('button', { name: 'Continue with Google' }).waitFor();
      await logInAtGoogle();
      await page.getByLabel('Code').fill(recovery_codes[0]!);
      await page.keyboard.press('Enter');
      await page.getByText(`${name}@example.com`).waitFor();
      expect(withoutStatuses(errors)).toEqual([]);
      await context.close();
    });

    it('leads back to the console, where a login at a provider began', async () => {
      google.addPerson('visitor', { email: email('visitor') });
      const { page, context } = await open(`${url}/admin/#/health`);
      await page.getByRole('button', { name: 'Continue with Google' }).click();
      await page.fill('[name=login]', 'visitor');
      await page.fill('[name=password]', 'a password at Google');
      await page.click('[type=submit]');
      await page.click('[type=submit]:text("Continue")');
      await page.getByRole('heading', { name: 'For staff only' }).waitFor();
      expect(new URL(page.url()).pathname).toBe('/admin/');
      await context.close();
    });

    it('sends the mail that confirms an address again, also to somebody who may not log in before', async () => {
      const strict = await startApi(store, { ...server.settings, REQUIRE_VERIFIED_EMAIL: 'on' });
      await strict.app.listen(0, '127.0.0.1');
      const address = email('resend');
      const { page, context, errors } = await open(`${await strict.app.getUrl()}/account/#/register`);
      await page.fill('[name=name]', 'Ada');
      await page.fill('[name=email]', address);
      await page.fill('[name=password]', PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Send the mail again' }).waitFor();
      await server.next(address);
      await page.getByRole('link', { name: 'Log in' }).click();
      await page.fill('[name=email]', address);
      await page.fill('[name=password]', PASSWORD);
      await page.keyboard.press('Enter');
      // One mail is sent per minute.
      strict.moveClock(61_000);
      await page.getByRole('button', { name: 'Send the mail again' }).click();
      await page.getByText(`A mail to ${address} is on its way.`).waitFor();
      const token = tokenIn(await server.next(address));
      expect(await strict.post('/auth/email/verify/', { token })).toHaveStatus(200);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await page.getByRole('region', { name: 'Profile' }).waitFor();
      expect(withoutStatuses(errors)).toEqual([]);
      await context.close();
      await strict.stop();
    });

    it('links an identity, and says why it links none', async () => {
      google.addPerson('owner', { email: email('owner.at') });
      const link = async (page: Page) => {
        await page.getByRole('button', { name: 'Link Google' }).click();
        await page.fill('[name=login]', 'owner');
        await page.fill('[name=password]', 'a password at Google');
        await page.click('[type=submit]');
        await page.click('[type=submit]:text("Continue")');
        await page.waitForURL(`${url}/account/#/identities`);
      };
      const openAs = async (name: string) => {
        await api.accounts.register(email(name));
        await api.accounts.admin().verifyEmail(email(name));
        const opened = await open(`${url}/account/#/identities`);
        await opened.page.fill('[name=email]', email(name));
        await opened.page.fill('[name=password]', PASSWORD);
        await opened.page.keyboard.press('Enter');
        return opened;
      };
      const first = await openAs('linking');
      await link(first.page);
      await first.page.getByText('Google is linked.').waitFor();
      await first.page.getByRole('button', { name: 'Remove the identity at Google' }).waitFor();
      const second = await openAs('linking.too');
      await link(second.page);
      await second.page.getByText('This identity is linked to another account.').waitFor();
      expect(withoutStatuses([...first.errors, ...second.errors])).toEqual([]);
      await first.context.close();
      await second.context.close();
    });

    it('says why a login at a provider has failed', async () => {
      await api.accounts.register(email('waiting'));
      google.addPerson('waiting', { email: email('waiting') });
      const { page, context, errors } = await open(`${url}/account/`);
      await page.getByRole('button', { name: 'Continue with Google' }).click();
      await page.getByText('[ Cancel ]').click();
      await page.getByText('The provider did not confirm the login.').waitFor();
      await page.getByRole('button', { name: 'Continue with Google' }).click();
      await page.fill('[name=login]', 'waiting');
      await page.fill('[name=password]', 'a password at Google');
      await page.click('[type=submit]');
      await page.click('[type=submit]:text("Continue")');
      await page.getByText('An account with your e-mail address exists.').waitFor();
      expect(page.url()).toBe(`${url}/account/`);
      expect(withoutStatuses(errors)).toEqual([]);
      await context.close();
    });

    it('lets another page of the same origin link and remove an identity', async () => {
      google.addPerson('linker', { email: 'elsewhere@example.com' });
      await api.accounts.register(email('linker'));
      await api.accounts.admin().verifyEmail(email('linker'));
      const { page, context } = await open(`${url}/account/`);
      const login = await api.post('/auth/session/', { email: email('linker'), password: PASSWORD });
      const session = sessionOf(login);
      const [name, value] = session.cookie.cookie.split('=') as [string, string];
      await context.addCookies([{ name, value, url }]);
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
      await page.fill('[name=login]', 'linker');
      await page.fill('[name=password]', 'a password at Google');
      await page.click('[type=submit]');
      await page.click('[type=submit]:text("Continue")');
      await page.waitForURL(`${url}/auth/social/google/callback/**`);
      const { data } = JSON.parse((await page.textContent('body'))!);
      expect(data).toMatchObject({ provider: 'google' });

      await page.goto(`${url}/account/`);
      expect((await call('GET', '/auth/identities/')).body).toEqual({ data: [data] });
      expect((await call('DELETE', `/auth/identities/${data.id}/`)).status).toBe(204);
      expect((await call('GET', '/auth/identities/')).body).toEqual({ data: [] });
      await context.close();
    });
  });
});
