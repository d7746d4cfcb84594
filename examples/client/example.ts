/**
 * A typed client of the API, made from its reference: it makes an account, creates a post safely, changes it without
 * overwriting anybody else's change, walks through all posts, and refreshes its tokens when the access token has
 * expired.
 *
 *     npm start               # in one terminal
 *     npm run example         # in another; -- http://… where the service is elsewhere
 *
 * `api.d.ts` comes out of `openapi-typescript public/openapi.json --default-non-nullable false`.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import createClient from 'openapi-fetch';
import type { paths } from './api.d.ts';

const { positionals, values } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
if (values.help) {
  console.log('Usage: npm run example [-- http://127.0.0.1:3000]');
  process.exit(0);
}

const baseUrl = positionals[0] ?? 'http://127.0.0.1:3000';
const anonymous = createClient<paths, 'application/json'>({ baseUrl });

let tokens = { access: '', refresh: '' };
let refreshing: Promise<void> | undefined;

/** A refresh token is good for one exchange, so requests that are rejected at the same time share it. */
async function refresh(): Promise<void> {
  const { data, error } = await anonymous.POST('/auth/refresh/', { body: { refresh: tokens.refresh } });
  if (!data) throw new Error(`Log in again: ${error.error.message}`);
  tokens = data;
}

/** Sends the access token along; when it is rejected, gets the next one and sends the request once more. */
async function fetchAsAccount(request: Request): Promise<Response> {
  // A body can be read once, and may be needed again.
  const copy = request.clone();
  const response = await fetch(authorized(request));
  if (response.status !== 401) return response;

  refreshing ??= refresh().finally(() => (refreshing = undefined));
  await refreshing;
  return fetch(authorized(copy));
}

function authorized(request: Request): Request {
  request.headers.set('Authorization', `Bearer ${tokens.access}`);
  return request;
}

const api = createClient<paths, 'application/json'>({ baseUrl, fetch: fetchAsAccount });

const account = { email: `ada-${randomUUID()}@example.com`, password: 'first programmer' };
await anonymous.POST('/auth/register/', { body: { ...account, name: 'Ada' } });
const login = await anonymous.POST('/auth/login/', { body: account });
if (!login.data) throw new Error(login.error.error.message);
tokens = login.data;

// The response may get lost, and the request may be sent again: under one key it happens once.
const key = randomUUID();
const create = () =>
  api.POST('/v1/posts', {
    params: { header: { 'Idempotency-Key': key } },
    body: { title: 'Notes', content: 'On the Analytical Engine' },
  });
const [first, again] = [await create(), await create()];
console.log(`Created post ${first.data?.data.id}, and the same again: ${again.data?.data.id}`);

/** Changes a post as it is now: when somebody else was faster, reads what they have written and tries again. */
async function append(id: number, text: string): Promise<string> {
  for (;;) {
    const { data, error, response } = await api.GET('/v1/posts/{id}', { params: { path: { id } } });
    if (!data) throw new Error(error.error.message);
    const changed = await api.PATCH('/v1/posts/{id}', {
      params: { path: { id }, header: { 'If-Match': response.headers.get('ETag')! } },
      body: { content: `${data.data.content} ${text}` },
    });
    if (changed.data) return changed.data.data.content;
    if (changed.response.status !== 412) throw new Error(changed.error.error.message);
  }
}
const id = first.data!.data.id;
await Promise.all(['by Ada,', 'with notes'].map((text) => append(id, text)));
const { data: both } = await api.GET('/v1/posts/{id}', { params: { path: { id } } });
console.log(`Nothing was overwritten: ${both?.data.content.split(' ').toSorted().join(' ')}`);

/** In the order of their ids, page by page; those that are created meanwhile come at the end. */
async function* allPosts() {
  let cursor: string | null | undefined = '';
  while (cursor !== null && cursor !== undefined) {
    const page: Awaited<ReturnType<typeof postsAfter>> = await postsAfter(cursor);
    if (!page.data) throw new Error(page.error.error.message);
    yield* page.data.data;
    cursor = page.data.next_cursor;
  }
}
const postsAfter = (cursor: string) =>
  api.GET('/v1/posts/cursor', { params: { query: { cursor, limit: 100 } } });

let count = 0;
let newest = '';
for await (const { title } of allPosts()) {
  count += 1;
  newest = title;
}
console.log(`Walked through ${count} posts, up to "${newest}"`);

tokens.access = 'expired';
const me = await api.GET('/auth/me/');
console.log(`Still ${me.data?.name}, with tokens that were refreshed on the way`);
