import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { buildSchema, type FieldNode, type OperationDefinitionNode, parse, validate } from 'graphql';
import type { Page } from 'playwright-core';
import { startApi, type TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { describeInBrowser } from './support/in-browser.js';
import { logInByHeader, logOutElsewhere } from './support/log-in.js';
import { ANY_STORE } from './support/stores.js';

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
/** The others need a login. */
const UNCHANGED = EXAMPLES.filter((each) => !isDeletion(each) && each.name !== 'AsAccount');

/** What each root field of an example responds with. */
const ROW_OR_TOTAL = /"(id":"[1-9]\d*"|totalCount":\d)/;

describe('the playground', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(ANY_STORE, {}, [FixtureModule]);
    await api.listen();
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

  describeInBrowser((open) => {
    let page: Page;
    beforeEach(async () => {
      page = await open(`${await api.app.getUrl()}/graphql`, { viewport: { width: 1300, height: 800 } });
    });

    const run = async (): Promise<Record<string, any>> => {
      const received = page.waitForResponse(
        (response) => response.request().postData()?.includes('__schema') === false,
      );
      await page.click('.graphiql-execute-button');
      return (await received).json();
    };

    /** The editor closes brackets automatically. */
    const openExample = async (name: string): Promise<void> => {
      if ((await page.locator('.examples').count()) === 0) await page.click('[aria-label="Show Examples"]');
      await page.click(`.examples button:text-is("${name}")`);
      await page.waitForSelector(`.graphiql-tab-active .graphiql-tab-button:text-is("${name}")`);
      // GraphiQL needs a moment to detect the operations.
      await page.waitForTimeout(500);
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
        await openExample(name);
        const { data, errors } = await run();

        expect({ name, errors }).toEqual({ name });
        for (const field of fields) expect(JSON.stringify(data[field])).toMatch(ROW_OR_TOTAL);
      }
    });

    it('deletes nothing with an example before an id was chosen', async () => {
      for (const { name } of DELETIONS) {
        await openExample(name);
        const { data, errors } = await run();

        expect({ name, data }).toEqual({ name, data: null });
        expect(errors[0].extensions.code).toBe('NOT_FOUND');
      }
    });

    it('says where changes are pushed, with a link to the guide', async () => {
      await openExample('Users');
      await page.click('.examples a:text-is("the event stream")');
      await page.waitForSelector('h1:text-is("Events")');
      expect(new URL(page.url()).pathname).toBe('/guides/events');
      await page.goBack();
    });

    it('shows the first comment in full, and stacks editor and response on a small screen', async () => {
      const viewport = { width: 400, height: 800 };
      const small = await open(page.url(), { viewport, colorScheme: 'dark' });
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
    });

    it('calls as who is logged in, without pasting a token', async () => {
      await api.accounts.register('caller@example.com');
      await logInByHeader(page, 'caller@example.com');
      await openExample('AsAccount');
      await page.click('.graphiql-execute-button');
      await page.waitForSelector('.result-window >> text=caller@example.com');

      await logOutElsewhere(page);
      await page.click('.graphiql-execute-button');
      await page.waitForSelector('.result-window >> text=null');
      expect(await page.textContent('.result-window')).not.toContain('caller@example.com');
    });

    it('shows the schema, and edits headers', async () => {
      await page.click('[aria-label="Show Documentation Explorer"]');
      await page.click('.graphiql-doc-explorer-content a:text-is("Query")');
      await page.waitForSelector('.graphiql-doc-explorer-content a:text-is("dummies")');

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
  });
});
