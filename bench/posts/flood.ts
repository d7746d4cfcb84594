/** A process that sends one kind of request continuously: `node flood.ts <url> <kind> <clients> <posts>`. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

interface Call {
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const [url, kind, clients, posts] = process.argv.slice(2) as [string, string, string, string];
const size = Number(posts);
let calls = 0;

/** Each call has its own address, so that no limit of one client protects the others. */
const address = () => `10.${(++calls >> 16) & 255}.${(calls >> 8) & 255}.${calls & 255}`;
const account = () => ({ email: `flood${calls}@example.com`, password: 'a password to log in with' });
const deepest = Math.floor(size / 100);

/** The most members that a body may have, which are the most work as the names of one object. */
const names = Object.fromEntries(Array.from({ length: 9980 }, (_, n) => [`name${n}`, 1]));
const objects = Array.from({ length: 9980 }, () => ({}));

const KINDS: Record<string, () => Call> = {
  'search, two letters': () => ({ path: '/v1/posts?q=zq&limit=100' }),
  'search, common word': () => ({ path: '/v1/posts?q=water&limit=100&sort_by=title' }),
  'deep page by title': () => ({
    path: `/v1/posts?status=published&sort_by=title&limit=100&page=${Math.floor(deepest / 4)}`,
  }),
  'posts of a user by title': () => ({ path: '/v1/users/1/posts?sort_by=title&limit=100&status=draft' }),
  'GraphQL, the most objects': () => ({
    path: '/graphql',
    body: { query: '{ users(limit: 100) { id name posts(limit: 4) { id title content author { name } } } }' },
  }),
  'GraphQL, nested posts': () => ({
    path: '/graphql',
    body: {
      query:
        '{ users(limit: 10) { posts(limit: 10) { author { posts(limit: 10) { title author { name } } } } } }',
    },
  }),
  'GraphQL, 20,000 objects': () => ({
    path: '/graphql',
    body: { query: '{ users(limit: 100) { posts(limit: 99) { title author { name } } } }' },
  }),
  'GraphQL, deep page': () => ({
    path: '/graphql',
    body: { query: `{ user(id: 1) { posts(limit: 100, page: ${Math.floor(deepest / 4)}) { title } } }` },
  }),
  'posts of 500 KB': () => ({
    path: '/v1/posts',
    body: { title: 'Large', content: randomBytes(380_000).toString('base64') },
  }),
  'posts of 10,000 members': () => ({
    path: '/v1/posts',
    body: { title: 'Many', content: 'x'.repeat(500_000), ...names },
  }),
  'users of 10,000 members': () => ({ path: '/v1/users', body: { name: objects } }),
  'logins of 10,000 members': () => ({ path: '/auth/login/', body: { ...account(), email: objects } }),
  '/v1/orders of 20,000 members': () => ({
    path: '/v1/orders',
    headers: { 'idempotency-key': randomBytes(16).toString('hex') },
    body: { items: Array.from({ length: 20_000 }, () => ({})) },
  }),
  'GraphQL, 10,000 members': () => ({
    path: '/graphql',
    body: {
      query: 'mutation ($input: CreateUserInput!) { createUser(input: $input) { id } }',
      variables: { input: { name: 'Many', email: objects } },
    },
  }),
  logins: () => ({ path: '/auth/login/', body: account() }),
  registrations: () => ({ path: '/auth/register/', body: { ...account(), name: 'Flood' } }),
};

let [served, unavailable] = [0, 0];
process.on('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify({ served, unavailable })}\n`);
  process.exit(0);
});

async function send(): Promise<void> {
  const { path, body, headers } = KINDS[kind]!();
  const response = await fetch(url + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'x-forwarded-for': address(), 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (response.status === 503) {
    unavailable++;
    await sleep(50);
  } else if (response.status >= 500 || text.includes('QUERY_TOO_COMPLEX')) {
    throw new Error(`${kind} got ${response.status}: ${text.slice(0, 500)}`);
  } else {
    served++;
  }
}

const client = async (): Promise<never> => {
  for (;;) await send();
};
await Promise.all(Array.from({ length: Number(clients) }, client));
