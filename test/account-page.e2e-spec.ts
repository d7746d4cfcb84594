import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Request, Route } from 'playwright-core';
import { bearer, PASSWORD } from './support/accounts.js';
import { startApi, startApiWithMails, type TestApi } from './support/api.js';
import { freePort } from './support/free-port.js';
import { describeInBrowser } from './support/in-browser.js';
import { logIn } from './support/log-in.js';
import { linkIn, MailServer, tokenIn } from './support/mail-server.js';
import { STORES } from './support/stores.js';

const PHONE = { width: 320, height: 640 };

describeInBrowser((open, errors) => {
  describe.each(STORES)('the account page on %s', (store) => {
    let api: TestApi;
    let mails: MailServer;
    let url: string;
    beforeAll(async () => {
      const port = await freePort();
      url = `http://127.0.0.1:${port}`;
      ({ api, mails } = await startApiWithMails(store, { PUBLIC_URL: url }));
      await api.app.listen(port, '127.0.0.1');
    });
    afterAll(() => api.stop());

    const isVerified = async (address: string) =>
      (await api.get('/auth/me/', bearer((await api.accounts.login(address)).access))).body.is_email_verified;

    it('verifies an address only after a click on its button', async () => {
      await api.accounts.register('ada@example.com');
      const arrived = await mails.next('ada@example.com');
      const requests: Request[] = [];
      const page = await open(linkIn(arrived), { onRequest: (request) => requests.push(request) });

      await page.waitForSelector('h1:text("Confirm your e-mail address")');
      expect(await isVerified('ada@example.com')).toBe(false);
      expect(requests.map((request) => request.method())).not.toContain('POST');
      await page.click('button[type=submit]');
      await page.waitForSelector('[role=alert]:has-text("Your e-mail address is confirmed.")');

      expect(await isVerified('ada@example.com')).toBe(true);
      expect(await page.isVisible('form')).toBe(false);
      expect(await page.isVisible('a:text("Go to your account")')).toBe(true);
      // The token is only in the body of that one request.
      const token = tokenIn(arrived);
      expect(page.url()).toBe(`${url}/account/#/mail`);
      expect(await page.evaluate('history.length')).toBeLessThanOrEqual(2);
      for (const request of requests) {
        expect(new URL(request.url()).origin).toBe(url);
        expect(request.url().replace(/#.*/, '')).not.toContain(token);
        expect(request.headers()['referer'] ?? '').toBe('');
      }
    });

    it('keeps the login of the browser when it verifies the address of the account', async () => {
      await api.accounts.register('same@example.com');
      const page = await open(`${url}/account/`);
      await logIn(page, 'same@example.com');
      await page.waitForSelector('h1:text("Ada")');
      await page.goto(url);
      await page.goto(linkIn(await mails.next('same@example.com')));
      await page.click('button:text("Confirm the address")');
      await page.click('a:text("Go to your account")');
      await page.waitForSelector('h1:text("Ada")');
    });

    it('keeps the form of a link when the page is loaded again, and forgets it after its use', async () => {
      await api.accounts.register('reload@example.com');
      const page = await open(linkIn(await mails.next('reload@example.com')));
      await page.waitForSelector('h1:text("Confirm your e-mail address")');
      await page.reload();
      await page.click('button:text("Confirm the address")');
      await page.waitForSelector('[role=alert]:has-text("is confirmed.")');
      await page.reload();
      await page.waitForSelector('text=This page needs the link from a mail.');
      expect(await isVerified('reload@example.com')).toBe(true);
    });

    it('explains that a link was used before', async () => {
      await api.accounts.register('used@example.com');
      const arrived = await mails.next('used@example.com');
      await api.post('/auth/email/verify/', { token: tokenIn(arrived) });
      const page = await open(linkIn(arrived));

      await page.click('button[type=submit]');

      await page.waitForSelector('[role=alert]:has-text("was used before")');
      expect(await page.isVisible('form')).toBe(false);
      expect(await page.isVisible('a:text("Go to your account")')).toBe(true);
    });

    it('changes an address', async () => {
      await api.accounts.register('old@example.com');
      const { access } = await api.accounts.login('old@example.com');
      const change = { new_email: 'new@example.com', password: PASSWORD };
      await api.post('/auth/email/change/', change, bearer(access));
      const page = await open(linkIn(await mails.next('new@example.com')));

      await page.click('button:text("Use this address")');

      await page.waitForSelector('[role=alert]:has-text("has the new address")');
      expect(await isVerified('new@example.com')).toBe(true);
    });

    it('sets a new password, and explains why one is rejected', async () => {
      await api.accounts.register('reset@example.com');
      await mails.next('reset@example.com');
      await api.post('/auth/password/reset/', { email: 'reset@example.com' });
      const page = await open(linkIn(await mails.next('reset@example.com')));

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
      await api.accounts.login('reset@example.com', 'a password from the page');
      await page.click('a:text("Go to your account")');
      await page.fill('[name=email]', 'reset@example.com');
      await page.fill('[autocomplete=current-password]', 'a password from the page');
      await page.keyboard.press('Enter');
      await page.waitForSelector('text=reset@example.com');
    });

    it('explains a link without a token or with an unknown action', async () => {
      for (const fragment of ['#action=verify-email', '#action=toString&token=x', '#token=x']) {
        const page = await open(`${url}/account/${fragment}`);
        await page.waitForSelector('text=This page needs the link from a mail.');
        expect(await page.isVisible('button')).toBe(false);
      }
    });

    it.each(['light', 'dark'] as const)('fits a phone, in the %s color scheme', async (colorScheme) => {
      const link = `${url}/account/#action=reset-password&token=${'x'.repeat(43)}`;
      const page = await open(link, { viewport: PHONE, colorScheme });
      await page.waitForSelector('button[type=submit]');

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
    });

    it('leads from a forgotten password to a new one', async () => {
      await api.accounts.register('forgetful@example.com');
      await mails.next('forgetful@example.com');
      const page = await open(`${url}/account/`);
      await page.click('a:text("Forgot your password?")');
      await page.fill('[autocomplete=username]', 'forgetful@example.com');
      await page.keyboard.press('Enter');
      await page.waitForSelector('text=a mail is on its way');
      await page.goto(linkIn(await mails.next('forgetful@example.com')));
      await page.fill('[name=new_password]', 'another password');
      await page.keyboard.press('Enter');
      await page.waitForSelector('[role=alert]:has-text("Your password is changed")');

      expect(await api.accounts.login('forgetful@example.com', 'another password')).toHaveProperty('access');
    });

    it('creates an account, and is logged in on all pages', async () => {
      const page = await open(`${url}/account/#register`);
      await page.fill('[name=name]', 'Grace');
      await page.fill('[name=email]', 'grace@example.com');
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
      expect((await page.context().cookies(url)).map(({ name }) => name)).not.toContain('session');
    });

    it.each([
      ['as many characters', `${'a'.repeat(64)}kT7#qW9z`, false],
      ['composed characters', `${'a\u0308'.repeat(40)}kT7#qW9zR4!m`, true],
      ['the first part of the address', 'lovelace.countess1', false],
    ])('scores a new password as the service does: %s', async (_, password, isAccepted) => {
      const strict = await startApi(store, { PASSWORD_POLICY: 'strict' });
      const page = await open(`${await strict.listen()}/account/#/register`);
      await page.fill('[name=name]', 'Ada');
      await page.fill('[name=email]', 'lovelace.countess@example.com');
      await page.fill('[name=password]', password);
      const score = page.locator('[aria-live=polite]', { hasText: 'guess' });
      await score.waitFor();
      expect(await score.textContent()).toMatch(
        isAccepted ? /hard to guess/i : /easy to guess|can be guessed/i,
      );
      await page.keyboard.press('Enter');
      await page.getByText(isAccepted ? 'Not verified' : 'Password is too easy to guess').waitFor();
      await strict.stop();
    });

    it('keeps its links at the address without a slash', async () => {
      const page = await open(`${url}/account`);
      await page.click('a:text("Forgot your password?")');
      await page.waitForSelector('h1:text("Forgot")');
      await page.goBack();
      await page.waitForSelector('h1:text("Log in")');
      expect(new URL(page.url()).pathname).toBe('/account');
    });

    it('leads after a login only to pages of this service', async () => {
      await api.accounts.register('led@example.com');
      const hosts: string[] = [];
      const onRequest = (request: Request) => hosts.push(new URL(request.url()).host);
      const page = await open(`${url}/account/`, { onRequest });
      await logIn(page, 'led@example.com');
      await page.waitForSelector('button:text("Log out")');
      for (const to of ['/.//elsewhere.example/', 'https://elsewhere.example/', 'http://[', '//']) {
        await page.goto('about:blank');
        await page.goto(`${url}/account/#/?to=${encodeURIComponent(to)}`);
        await page.waitForSelector('h1');
        await page.waitForLoadState('networkidle');
      }
      expect(hosts).not.toContain('elsewhere.example');
    });

    it('does not take a failure of the service for the end of the session', async () => {
      await api.accounts.register('patient@example.com');
      const page = await open(`${url}/account/`);
      await logIn(page, 'patient@example.com');
      await page.waitForSelector('button:text("Log out")');
      await page.route('**/auth/session/', (route) => route.fulfill({ status: 503, body: '' }), { times: 1 });
      await page.reload();
      await page.waitForSelector('button:text("Log out"), h1:text("Log in")');
      expect(await page.locator('h1').textContent()).not.toBe('Log in');
      expect(errors.splice(0)).toEqual(['503 /auth/session/']);
    });

    it('says that a logout has failed, and keeps the login on the page', async () => {
      await api.accounts.register('stuck@example.com');
      const page = await open(`${url}/account/`);
      await logIn(page, 'stuck@example.com');
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
      expect(errors.splice(0)).toEqual(['502 /auth/session/']);

      await page.unroute('**/auth/session/');
      await page.click('button:text("Log out")');
      await page.waitForSelector('h1:text("Log in")');
    });

    it('shows and hides a password', async () => {
      const page = await open(`${url}/account/#action=reset-password&token=x`);
      await page.fill('[name=new_password]', 'first programmer');
      await page.getByRole('button', { name: 'Show password' }).click();
      expect(await page.getAttribute('[name=new_password]', 'type')).toBe('text');
      await page.getByRole('button', { name: 'Hide password' }).click();
      expect(await page.getAttribute('[name=new_password]', 'type')).toBe('password');
    });

    it('is where password managers change a password', async () => {
      const reply = await api.get('/.well-known/change-password');
      expect(reply).toHaveStatus(302);
      expect(reply.headers['location']).toBe('/account/#password');

      await api.accounts.register('changer@example.com');
      const page = await open(`${url}/.well-known/change-password`);
      await logIn(page, 'changer@example.com');
      const section = page.getByRole('region', { name: 'Password', exact: true });
      await section.waitFor();
      expect(await section.locator('[autocomplete=username]').inputValue()).toBe('changer@example.com');
      await section.locator('[autocomplete=current-password]').fill('wrong');
      await section.locator('[autocomplete=new-password]').fill('another password');
      await page.keyboard.press('Enter');
      await section.getByRole('alert').getByText('password is incorrect').waitFor();
      await section.locator('[autocomplete=current-password]').fill(PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByText('The password is changed').waitFor();

      await api.accounts.login('changer@example.com', 'another password');
    });

    it.each(['profile', 'mail'])(
      'takes a link that is opened in the tab of somebody at #/%s',
      async (place) => {
        const address = `${place}@example.com`;
        await api.accounts.register(address);
        const link = linkIn(await mails.next(address));
        const page = await open(`${url}/account/`);
        await logIn(page, address);
        await page.getByRole('heading', { name: 'Ada' }).waitFor();
        await page.goto(`${url}/account/#/${place}`);
        await page.goto(link);
        await page.waitForSelector('h1:text("Confirm your e-mail address")');
        expect(page.url()).toBe(`${url}/account/#/mail`);
        await page.getByRole('button', { name: 'Confirm the address' }).click();
        await page.waitForSelector('[role=alert]:has-text("Your e-mail address is confirmed.")');
        expect(await isVerified(address)).toBe(true);
      },
    );

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

    it('sends the mail that confirms an address again, also to somebody who may not log in before', async () => {
      const strict = await startApi(store, { ...mails.settings, REQUIRE_VERIFIED_EMAIL: 'on' });
      const address = 'resend@example.com';
      const page = await open(`${await strict.listen()}/account/#/register`);
      await page.fill('[name=name]', 'Ada');
      await page.fill('[name=email]', address);
      await page.fill('[name=password]', PASSWORD);
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Send the mail again' }).waitFor();
      await mails.next(address);
      await page.getByRole('link', { name: 'Log in' }).click();
      await logIn(page, address);
      // One mail is sent per minute.
      strict.moveClock(61_000);
      await page.getByRole('button', { name: 'Send the mail again' }).click();
      await page.getByText(`A mail to ${address} is on its way.`).waitFor();
      const token = tokenIn(await mails.next(address));
      expect(await strict.post('/auth/email/verify/', { token })).toHaveStatus(200);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
      await page.getByRole('region', { name: 'Profile' }).waitFor();
      await strict.stop();
    });
  });
});
