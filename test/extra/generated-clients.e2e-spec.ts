import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bearer } from '../support/accounts.js';
import { startApi, type TestApi } from '../support/api.js';
import { freePort } from '../support/free-port.js';
import { ANY_STORE } from '../support/stores.js';
import { until } from '../support/until.js';
import { BIN, compile, makeFolder, run } from './tools.js';

/** What a generated client does in the scenario, with the types that it has generated. */
const SCENARIO = `
async function scenario() {
  const created = await createPost({ title: 'Of a client', content: 'Generated', status: 'published' });
  const page = await listPosts({ status: 'published', sort_by: 'title', sort_dir: 'ASC', limit: 5 });
  const titles: string[] = page.data.map((post) => post.title);
  const read = await readPost(created.data.id);
  const updated = await updatePost(created.data.id, { title: 'Changed' }, read.etag);
  const outdated = await updatePost(created.data.id, { title: 'Lost' }, read.etag);
  const key = crypto.randomUUID();
  const orders = [await createOrder({ item: 'Tea' }, key), await createOrder({ item: 'Tea' }, key)];
  const webhook = await createWebhook({ url: 'http://127.0.0.1:9/', types: ['post.created', 'order.created'] });
  const events = await listEvents({ types: 'post.updated' });
  const user = await readUser(1);
  return {
    titles,
    updated: updated.status === 200 && updated.body.data.title,
    outdated: outdated.status !== 200 && outdated.body.error.code,
    orders: orders.map(({ data }) => data.id),
    secret: webhook.data.secret.slice(0, 6),
    events: events.data.map(({ type }) => type),
    user: user.data.name,
  };
}
`;

const RESULT = {
  titles: ['Of a client'],
  updated: 'Changed',
  outdated: 'PRECONDITION_FAILED',
  orders: [1, 1],
  secret: 'whsec_',
  events: ['post.updated'],
  user: 'Author',
};

const HEY_API = `
import * as api from './client';
import { client } from './client/client.gen';

const [url, token] = process.argv.slice(2) as [string, string];
client.setConfig({ baseUrl: url, auth: token });
client.interceptors.response.use((response) => {
  const violations = response.headers.get('sl-violations');
  if (violations) throw new Error(violations);
  return response;
});

/** The data, or the error as an exception. */
async function ok<T>(result: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  const { data, error } = await result;
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const createPost = (body: api.CreatePostInput) => ok(api.postsCreateV1({ body }));
const listPosts = (query: NonNullable<api.PostsListV1Data['query']>) => ok(api.postsListV1({ query }));
async function readPost(id: number) {
  const { response } = await api.postsReadV1({ path: { id } });
  return { etag: response!.headers.get('etag')! };
}
async function updatePost(id: number, body: api.UpdatePostInput, etag: string) {
  const { data, error } = await api.postsUpdateV1({ path: { id }, body, headers: { 'If-Match': etag } });
  return data ? ({ status: 200, body: data } as const) : ({ status: 412, body: error as api.ErrorResponse } as const);
}
const createOrder = (body: { [key: string]: unknown }, key: string) =>
  ok(api.ordersCreateV1({ body, headers: { 'Idempotency-Key': key } }));
const createWebhook = (body: api.CreateWebhookInput) => ok(api.webhooksCreateV1({ body }));
const listEvents = (query: NonNullable<api.EventsListV1Data['query']>) => ok(api.eventsListV1({ query }));
const readUser = (id: number) => ok(api.usersReadV2({ path: { id } }));
${SCENARIO}
void scenario().then((result) => console.log(JSON.stringify(result)));
`;

const HEY_API_STREAM = `
import { type CloudEvent, eventsStreamV1 } from './client';
import { client } from './client/client.gen';

const [url, token] = process.argv.slice(2) as [string, string];
client.setConfig({ baseUrl: url, auth: token });

async function main() {
  const { stream } = await eventsStreamV1({ headers: { 'Last-Event-ID': process.argv[4]! } });
  for await (const data of stream) {
    const event: CloudEvent = data;
    console.log(JSON.stringify(event.type));
    process.exit();
  }
}
void main();
`;

const ORVAL = `
import axios, { AxiosError } from 'axios';
import * as api from './api';

const [url, token] = process.argv.slice(2) as [string, string];
axios.defaults.baseURL = url;
axios.defaults.headers.common.Authorization = \`Bearer \${token}\`;
axios.interceptors.response.use((response) => {
  const violations = response.headers['sl-violations'];
  if (violations) throw new Error(violations);
  return response;
});

const data = async <T>(response: Promise<{ data: T }>): Promise<T> => (await response).data;

const createPost = (input: api.CreatePostInput) => data(api.postsCreateV1(input));
const listPosts = (params: api.PostsListV1Params) => data(api.postsListV1(params));
const readPost = async (id: number) => ({ etag: String((await api.postsReadV1(id)).headers['etag']) });
async function updatePost(id: number, input: api.UpdatePostInput, etag: string) {
  try {
    const response = await api.postsUpdateV1(id, input, { headers: { 'If-Match': etag } });
    return { status: 200, body: response.data } as const;
  } catch (error) {
    return { status: 412, body: (error as AxiosError<api.ErrorResponse>).response!.data } as const;
  }
}
const createOrder = (body: api.OrdersCreateV1Body, key: string) =>
  data(api.ordersCreateV1(body, { headers: { 'Idempotency-Key': key } }));
const createWebhook = (input: api.CreateWebhookInput) => data(api.webhooksCreateV1(input));
const listEvents = (params: api.EventsListV1Params) => data(api.eventsListV1(params));
const readUser = (id: number) => data(api.usersReadV2(id));
${SCENARIO}
void scenario().then((result) => console.log(JSON.stringify(result)));
`;

describe('a client generated from the reference', () => {
  let api: TestApi;
  let url: string;
  let token: string;
  let folder: string;
  let prism: ChildProcess;
  let proxyUrl: string;
  let log = '';
  beforeAll(async () => {
    api = await startApi(ANY_STORE, { WRITE_ACCESS: 'staff' });
    await api.accounts.register('staff@example.com');
    await api.accounts.admin().setStaff('staff@example.com', true);
    token = (await api.accounts.login('staff@example.com')).access;
    await api.app.listen(0, '127.0.0.1');
    url = await api.app.getUrl();
    folder = makeFolder();
    writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }');
    writeFileSync(join(folder, 'openapi.json'), (await api.get('/openapi.json')).text);

    const port = await freePort();
    proxyUrl = `http://127.0.0.1:${port}`;
    // Responds to a violation of the document with an error, in either direction.
    prism = spawn(join(BIN, 'prism'), ['proxy', '--errors', '--port', String(port), 'openapi.json', url], {
      cwd: folder,
    });
    for (const stream of [prism.stdout!, prism.stderr!]) stream.on('data', (chunk) => (log += String(chunk)));
    await until('the proxy listens', () => log.includes('is listening'), 60_000);
  });
  afterAll(async () => {
    prism.kill();
    await once(prism, 'exit');
    await api.stop();
    rmSync(folder, { recursive: true });
  });

  /** Compiles a program with the generated client as strictly as possible, and runs it. @returns its output */
  async function compileAndRun(name: string, program: string, parameters: readonly string[]): Promise<any> {
    writeFileSync(join(folder, name, 'program.ts'), program);
    const options = ['--module', 'commonjs', '--types', 'node', '--outDir', `${name}/out`];
    await compile([...options, `${name}/program.ts`], folder);
    const { stdout } = await run(process.execPath, [`${name}/out/program.js`, ...parameters], folder);
    return JSON.parse(stdout);
  }

  it('by @hey-api/openapi-ts runs a scenario through a proxy that validates it, and reads the stream', async () => {
    await run(join(BIN, 'openapi-ts'), ['-i', './openapi.json', '-o', './hey-api/client'], folder);

    expect(await compileAndRun('hey-api', HEY_API, [proxyUrl, token])).toEqual(RESULT);

    const [first] = (await api.get('/v1/events', bearer(token))).body.data;
    expect(first.type).toBe('post.created');
    expect(await compileAndRun('hey-api', HEY_API_STREAM, [url, token, first.id])).toBe('post.updated');
  });

  it('by orval runs the scenario through the proxy', async () => {
    await run(join(BIN, 'orval'), ['--input', './openapi.json', '--output', './orval/api.ts'], folder);

    const result = await compileAndRun('orval', ORVAL, [proxyUrl, token]);
    const events = ['post.updated', 'post.updated'];
    expect(result).toEqual({ ...RESULT, titles: ['Changed', 'Of a client'], orders: [2, 2], events });
  });

  it('has a proxy that reports violations', async () => {
    // The service itself responds with 400.
    expect((await fetch(`${proxyUrl}/v1/posts/abc`)).status).toBe(422);
  });
});
