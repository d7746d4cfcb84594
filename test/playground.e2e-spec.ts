import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema, type FieldNode, type OperationDefinitionNode, parse, validate } from 'graphql';
import type { Browser, Page } from 'playwright-core';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { logInByHeader, logOutElsewhere } from './support/log-in.js';
import { ANY_STORE } from './support/stores.js';
import { hasBrowser, launchBrowser } from './support/browser.js';
import { until } from './support/until.js';
import { tick, TicksModule } from './support/ticks.module.js';

/** The examples of the service's own modules, with their root fields: a module of a team needs none. */
const OWN_EXAMPLES = [
  'query AsAccount { me }',
  'query Users { users }',
  'query User { user }',
  'mutation CreateUser { createUser }',
  'mutation UpdateUser { updateUser }',
  'mutation DeleteUser { deleteUser }',
  'query Posts { posts }',
  'query Post { post }',
  'mutation CreatePost { createPost }',
  'mutation UpdatePost { updatePost }',
  'mutation DeletePost { deletePost }',
  'query Orders { orders order }',
  'mutation CreateOrder { createOrder }',
  'subscription Events { events }',
];

interface Example {
  text: string;
  type: string;
  name: string;
  /** Of the root. */
  fields: string[];
}

const EXAMPLES = [...readFileSync('public/playground/examples.js', 'utf8').matchAll(/query: `([^`]+)`/g)].map(
  ([, text]): Example => {
    const [definition] = parse(text!).definitions as OperationDefinitionNode[];
    const { name, operation: type, selectionSet } = definition!;
    const fields = selectionSet.selections.map((field) => (field as FieldNode).name.value);
    return { text: text!, type, name: name!.value, fields };
  },
);
const isCreation = ({ name }: Example) => name.startsWith('Create');
const isDeletion = ({ name }: Example) => name.startsWith('Delete');
const DELETIONS = EXAMPLES.filter(isDeletion);
/** The others need a login, or go on. */
const UNCHANGED = EXAMPLES.filter(
  (each) => !isDeletion(each) && each.name !== 'AsAccount' && each.type !== 'subscription',
);

/** What each root field of an example responds with. */
const ROW_OR_TOTAL = /"(id":"[1-9]\d*"|totalCount":\d)/;

describe('the playground', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [FixtureModule, TicksModule]);
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
    const query = await other.get('/graphql?query={__typename}', {
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

  it('has examples for each root field of its own modules, which are valid, and so are those of others', async () => {
    const schema = buildSchema(readFileSync('schema.gql', 'utf8'));
    const outlines = EXAMPLES.map(({ type, name, fields }) => `${type} ${name} { ${fields.join(' ')} }`);
    expect(outlines).toEqual(expect.arrayContaining(OWN_EXAMPLES));
    for (const { text } of EXAMPLES) {
      expect(validate(schema, parse(text))).toEqual([]);
      // The editor wraps; a comment wrapped by hand is narrow on any screen.
      expect(text).not.toMatch(/^#.*\n#/);
    }

    await api.accounts.register('ada@example.com');
    const { access } = await api.accounts.login('ada@example.com');
    const example = EXAMPLES.find(({ name }) => name === 'AsAccount')!;
    const reply = await api.graphql(example.text, undefined, { authorization: `Bearer ${access}` });
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

    /** The editor closes brackets automatically. */
    const typeInNewTab = async (tabs: Page, text: string): Promise<void> => {
      await tabs.click('.graphiql-tab-add');
      await tabs.click('.graphiql-query-editor .CodeMirror');
      // Replaces the text of a new tab.
      await tabs.keyboard.press('Control+A');
      await tabs.keyboard.type(text);
      await tabs.waitForTimeout(500);
    };

    const openExample = async (from: Page, name: string): Promise<void> => {
      if ((await from.locator('.examples').count()) === 0) await from.click('[aria-label="Show Examples"]');
      await from.click(`.examples button:text-is("${name}")`);
      await from.waitForSelector(`.graphiql-tab-active .graphiql-tab-button:text-is("${name}")`);
      // GraphiQL needs a moment to detect the operations.
      await from.waitForTimeout(500);
    };

    it('opens with four tabs at most, and a button for a new one in sight', async () => {
      expect(await page.locator('.graphiql-tab-button').count()).toBe(Math.min(4, EXAMPLES.length));
      expect(await page.isVisible('.graphiql-tab-add')).toBe(true);
    });

    it('runs the first example with a click, and shows the response', async () => {
      const { data, errors } = await run();

      expect(errors).toBeUndefined();
      const [field] = Object.keys(data);
      const response = await page.waitForSelector(`.result-window >> text=${field}`);
      expect(await response.isVisible()).toBe(true);
    });

    it('runs each example unchanged', async () => {
      // What they create comes first: others read the order of its id.
      for (const { name, fields } of UNCHANGED.toSorted((a, b) => +isCreation(b) - +isCreation(a))) {
        await openExample(page, name);
        const { data, errors } = await run();

        expect({ name, errors }).toEqual({ name });
        for (const field of fields) expect(JSON.stringify(data[field])).toMatch(ROW_OR_TOTAL);
      }
    });

    it('deletes nothing with an example before an id was chosen', async () => {
      for (const { name } of DELETIONS) {
        await openExample(page, name);
        const { data, errors } = await run();

        expect({ name, data }).toEqual({ name, data: null });
        expect(errors[0].extensions.code).toBe('NOT_FOUND');
      }
    });

    it('shows the events of a subscription typed into the editor', async () => {
      await typeInNewTab(page, 'subscription { ticks');
      await page.click('.graphiql-execute-button');
      const shown = page.locator('.result-window', { hasText: 'ticks' });
      await until('an event is shown', async () => {
        await tick();
        return (await shown.count()) > 0;
      });

      expect(await shown.textContent()).toMatch(/"ticks":\s*1/);
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
      await logInByHeader(caller, 'caller@example.com');
      await openExample(caller, 'AsAccount');
      await caller.click('.graphiql-execute-button');
      await caller.waitForSelector('.result-window >> text=caller@example.com');

      await logOutElsewhere(caller);
      await caller.click('.graphiql-execute-button');
      await caller.waitForSelector('.result-window >> text=null');
      expect(await caller.textContent('.result-window')).not.toContain('caller@example.com');
      await context.close();
    });

    it('subscribes as who is logged in', async () => {
      const closed = await startApi(ANY_STORE, { WRITE_ACCESS: 'authenticated' }, [
        FixtureModule,
        TicksModule,
      ]);
      await closed.app.listen(0, '127.0.0.1');
      await closed.accounts.register('caller@example.com');
      const context = await browser.newContext();
      const caller = await context.newPage();
      await caller.goto(`${await closed.app.getUrl()}/graphql`);
      await logInByHeader(caller, 'caller@example.com');
      const [sent, received]: [string[], string[]] = [[], []];
      caller.on('websocket', (socket) => {
        socket.on('framesent', ({ payload }) => sent.push(String(payload)));
        socket.on('framereceived', ({ payload }) => received.push(String(payload)));
      });
      await typeInNewTab(caller, 'subscription { ticks');
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
      await page.waitForSelector('.graphiql-doc-explorer-content a:text-is("samples")');

      expect(await page.isVisible('text=Headers')).toBe(true);
    });

    it('restores the tabs after a reload', async () => {
      await page.click('.graphiql-tab-add');
      await page.waitForTimeout(1000);
      const tabs = page.locator('.graphiql-tab-button');
      const before = await tabs.allTextContents();
      await page.reload();

      await page.waitForSelector('.graphiql-tab-button:text-is("<untitled>")');
      expect(await tabs.allTextContents()).toEqual(before);
      expect(before.length).toBeGreaterThan(Math.min(4, EXAMPLES.length));
    });

    it('sends requests to no other host, and logs no errors', () => {
      const { host } = new URL(page.url());

      expect([...hosts]).toEqual([host]);
      expect(pageErrors).toEqual([]);
    });
  });
});
