import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema, parse, validate } from 'graphql';
import type { Browser, Page } from 'playwright-core';
import { PASSWORD, startApi, type TestApi } from './support/api.js';
import { ANY_STORE } from './support/stores.js';
import { hasBrowser, launchBrowser } from './support/browser.js';
import { until } from './support/until.js';

const ID = expect.stringMatching(/^[1-9]\d*$/);
const OBJECT = expect.objectContaining({ id: ID });
const LIST = expect.objectContaining({ totalCount: expect.any(Number) });

describe('the playground', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE);
    await api.users.create({ name: 'Ada Lovelace' });
    await api.app.listen(0, '127.0.0.1');
  });
  afterAll(() => api.stop());

  it('is served to browsers only, with a strict content security policy', async () => {
    const page = await api.get('/graphql', { accept: 'text/html,*/*;q=0.8' });

    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none';script-src 'self';style-src 'self';/,
      ),
      'x-request-id': expect.any(String),
    });
    expect(page.text).not.toMatch(/https?:|<script>|<style>| on\w+=/);
    expect(await api.get('/graphql', { accept: 'application/json' })).toHaveStatus(400);
  });

  it.each([
    '/graphql/playground',
    '/graphql/playground/',
    '/graphql/playground/none.js',
    '/graphql/playground/%2e%2e/x',
  ])('serves nothing at %s', async (path) => {
    expect(await api.get(path)).toBeError('NOT_FOUND');
  });

  it.each([
    [{ GRAPHQL_PLAYGROUND: 'off' }, 404],
    [{ NODE_ENV: 'production', WRITE_ACCESS: 'open', JWT_SECRET: 'as'.repeat(16) }, 404],
    [
      { NODE_ENV: 'production', WRITE_ACCESS: 'open', JWT_SECRET: 'as'.repeat(16), GRAPHQL_PLAYGROUND: 'on' },
      200,
    ],
  ])('with %j responds to a browser with %i', async (settings, status) => {
    const other = await startApi(ANY_STORE, settings);
    const [page, script] = [
      await other.get('/graphql', { accept: 'text/html' }),
      await other.get('/graphql/playground/playground.js'),
    ];
    const query = await other.get('/graphql?query={users{name}}', {
      accept: 'application/json',
      'apollo-require-preflight': 'true',
    });
    await other.stop();

    expect(page).toHaveStatus(status);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain('href="/"');
    expect(query).toHaveStatus(200);
    expect(script).toHaveStatus(status === 200 ? 200 : 404);
  });

  it('has examples for each root field, and for an account, which are valid', async () => {
    const { body } = await api.graphql(
      `{ schema: __schema {
        queryType { fields { name } } mutationType { fields { name } } subscriptionType { fields { name } }
      } }`,
    );
    const types: { fields: { name: string }[] }[] = Object.values(body.data.schema);
    const script = (await api.get('/graphql/playground/examples.js')).text;
    for (const { name } of types.flatMap(({ fields }) => fields)) {
      expect(script).toMatch(new RegExp(`^  ${name}\\b`, 'm'));
    }
    const schema = buildSchema(readFileSync('schema.gql', 'utf8'));
    const examples = [...script.matchAll(/query: `([^`]+)`/g)].map(([, text]) => text!);
    expect(examples.length).toBeGreaterThan(10);
    for (const example of examples) {
      expect(validate(schema, parse(example))).toEqual([]);
      // The editor wraps; a comment wrapped by hand is narrow on any screen.
      expect(example).not.toMatch(/^#.*\n#/);
    }

    await api.accounts.register('ada@example.com');
    const { access } = await api.accounts.login('ada@example.com');
    const example = /query AsAccount [^`]+/.exec(script)![0];
    const reply = await api.graphql(example, undefined, { authorization: `Bearer ${access}` });
    expect(reply.body.data.me.email).toBe('ada@example.com');
  });

  (hasBrowser ? describe : describe.skip)('in a browser', () => {
    let browser: Browser;
    let page: Page;
    const pageErrors: string[] = [];
    const hosts = new Set<string>();
    beforeAll(async () => {
      browser = await launchBrowser();
      page = await browser.newPage({ viewport: { width: 1300, height: 800 } });
      page.on('console', (message) => message.type() === 'error' && pageErrors.push(message.text()));
      page.on('pageerror', (error) => pageErrors.push(error.message));
      page.on(
        'request',
        (request) => !request.url().startsWith('data:') && hosts.add(new URL(request.url()).host),
      );
      await page.goto(`${await api.app.getUrl()}/graphql`);
    });
    afterAll(() => browser?.close());

    const run = async (): Promise<Record<string, any>> => {
      const received = page.waitForResponse(
        (response) => response.request().postData()?.includes('__schema') === false,
      );
      await page.click('.graphiql-execute-button');
      return (await received).json();
    };

    it('runs the first example with a click, and shows the response', async () => {
      await page.click('.graphiql-execute-button');

      const response = await page.waitForSelector('.result-window >> text=Ada Lovelace');

      expect(await response.isVisible()).toBe(true);
    });

    it.each([
      ['User', 'user', OBJECT],
      ['CreatePost', 'createPost', OBJECT],
      ['Posts', 'posts', LIST],
      ['Post', 'post', OBJECT],
      ['UpdatePost', 'updatePost', OBJECT],
      ['DeletePost', 'deletePost', ID],
      ['CreateUser', 'createUser', OBJECT],
      ['UpdateUser', 'updateUser', OBJECT],
      ['DeleteUser', 'deleteUser', ID],
      ['CreateOrder', 'createOrder', OBJECT],
      ['Orders', 'order', OBJECT],
    ])('runs the example %s unchanged', async (tab, field, expected) => {
      await page.click(`.graphiql-tab-button:text-is("${tab}")`);
      // GraphiQL needs a moment to detect the operations.
      await page.waitForTimeout(500);
      const { data, errors } = await run();

      expect(errors).toBeUndefined();
      expect(data[field]).toEqual(expected);
    });

    it('shows the events of a subscription typed into the editor', async () => {
      await page.click('.graphiql-tab-add');
      await page.click('.graphiql-query-editor .CodeMirror');
      // Replaces the text of a new tab. The editor closes brackets automatically.
      await page.keyboard.press('Control+A');
      await page.keyboard.type('subscription { events { id type');
      await page.waitForTimeout(500);
      await page.click('.graphiql-execute-button');
      const shown = page.locator('.result-window', { hasText: 'post.created' });
      await until('an event is shown', async () => {
        await api.posts.create();
        return (await shown.count()) > 0;
      });

      expect(await shown.textContent()).toMatch(/"id":\s*"[\da-f]{12}-\d+"/);
      await page.click('.graphiql-execute-button');
      await page.click('.graphiql-tab-close >> nth=-1');
    });

    it('shows the first comment in full, and stacks editor and response on a small screen', async () => {
      const small = await browser.newPage({ viewport: { width: 400, height: 800 }, colorScheme: 'dark' });
      await small.goto(page.url());
      const comment = small.locator('.graphiql-query-editor .cm-comment').first();
      await comment.waitFor();
      const [text, editor] = [
        await comment.boundingBox(),
        await small.locator('.graphiql-query-editor .CodeMirror').boundingBox(),
      ];
      expect(text!.x + text!.width).toBeLessThan(editor!.x + editor!.width);
      expect(await small.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(400);
      const [editors, response] = [
        await small.locator('.graphiql-editors').boundingBox(),
        await small.locator('.graphiql-response').boundingBox(),
      ];
      expect(response!.y).toBeGreaterThanOrEqual(editors!.y + editors!.height);
      await small.close();
    });

    it('calls as who is logged in, without pasting a token', async () => {
      const context = await browser.newContext();
      const caller = await context.newPage();
      await api.accounts.register('caller@example.com');
      await caller.goto(page.url());
      await caller.click('#session button:text("Log in")');
      await caller.fill('[name=email]', 'caller@example.com');
      await caller.fill('[name=password]', PASSWORD);
      await caller.keyboard.press('Enter');
      await caller.waitForSelector('#logout');
      await caller.click('.graphiql-tab-button:text-is("AsAccount")');
      await caller.waitForTimeout(500);
      await caller.click('.graphiql-execute-button');
      await caller.waitForSelector('.result-window >> text=caller@example.com');

      await caller.click('#logout');
      await caller.waitForSelector('#session button:text("Log in")');
      await caller.click('.graphiql-execute-button');
      await caller.waitForSelector('.result-window >> text=null');
      expect(await caller.textContent('.result-window')).not.toContain('caller@example.com');
      await context.close();
    });

    it('subscribes as who is logged in', async () => {
      const closed = await startApi(ANY_STORE, { WRITE_ACCESS: 'authenticated' });
      await closed.app.listen(0, '127.0.0.1');
      await closed.accounts.register('caller@example.com');
      const context = await browser.newContext();
      const caller = await context.newPage();
      await caller.goto(`${await closed.app.getUrl()}/graphql`);
      await caller.click('#session button:text("Log in")');
      await caller.fill('[name=email]', 'caller@example.com');
      await caller.fill('[name=password]', PASSWORD);
      await caller.keyboard.press('Enter');
      await caller.waitForSelector('#logout');
      const [sent, received]: [string[], string[]] = [[], []];
      caller.on('websocket', (socket) => {
        socket.on('framesent', ({ payload }) => sent.push(String(payload)));
        socket.on('framereceived', ({ payload }) => received.push(String(payload)));
      });
      await caller.click('.graphiql-tab-button:text-is("Events")');
      await caller.waitForTimeout(500);
      await caller.click('.graphiql-execute-button');
      await until('the service accepts the connection', () => received.length > 0);

      expect(JSON.parse(sent[0]!)).toEqual({
        type: 'connection_init',
        payload: { 'X-CSRF-Token': expect.any(String) },
      });
      expect(JSON.parse(received[0]!)).toEqual({ type: 'connection_ack' });
      await context.close();
      await closed.stop();
    });

    it('shows the schema, and edits headers', async () => {
      await page.click('[aria-label="Show Documentation Explorer"]');
      await page.click('.graphiql-doc-explorer-content a:text-is("Query")');
      await page.waitForSelector('.graphiql-doc-explorer-content a:text-is("users")');

      expect(await page.isVisible('text=Headers')).toBe(true);
    });

    it('restores the tabs after a reload', async () => {
      await page.click('.graphiql-tab-add');
      await page.waitForTimeout(1000);
      await page.reload();

      await page.waitForSelector('.graphiql-tab-button:text-is("<untitled>")');
      expect(await page.locator('.graphiql-tab-button').count()).toBe(15);
    });

    it('sends requests to no other host, and logs no errors', () => {
      const { host } = new URL(page.url());

      expect([...hosts]).toEqual([host]);
      expect(pageErrors).toEqual([]);
    });
  });
});
