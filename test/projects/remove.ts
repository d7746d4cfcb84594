/**
 * Removes what a service may not need from a copy of the project, as docs/your-own-service.md says, until accounts are left:
 * nothing but sentences that the command lists names it, the checks pass, and so do the tests of what had named it.
 * Part of `npm run test:extra`.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CopyOfProject } from '../support/copy-of-project.ts';
import { Service } from '../support/service.ts';

interface Removal {
  /** How code and contracts name it. */
  readonly named: RegExp;
  /** Has no route for `POST` any more. */
  readonly path: string;
}

/** In the order of docs/your-own-service.md. */
const REMOVALS: Readonly<Record<string, Removal>> = {
  orders: { named: /\/v1\/orders|OrdersModule/, path: '/v1/orders' },
  webhooks: { named: /webhook(?!s = Record<string, never>)/i, path: '/v1/webhooks' },
  events: { named: /\/v1\/events|\bEventsModule/, path: '/v1/events' },
  posts: { named: /PostsModule|postsOf|\/posts\.|PostView|npm run seed/, path: '/v1/posts' },
  users: { named: /UsersModule|usersOf|\/users\.|UserView|\/v\d\/users/, path: '/v2/users' },
};

const CODE = '{src,test,bench,public,examples,deploy}/**/*.{ts,js,html,json,yaml,yml}';
const EXCLUDED = [
  '**/migrations/*',
  '**/vendor/**',
  'test/extra/*',
  'test/projects/remove.ts',
  // The command removes the faults of sources that are gone.
  'test/faults.json',
  // It does without posts.
  'test/projects/first-day.ts',
  'public/{guides,reference}/**',
];

const CHECKS = ['format', 'lint', 'types', 'boundaries', 'dead-code', 'openapi'];

/** Of what named them: the schema, the contracts, the guides, the metrics, and what refers to accounts. */
const TESTS = [
  'account-command',
  'account-deletion',
  'account-export',
  'audit-routes',
  'bodies',
  'caching',
  'docs.e2e',
  'graphql.e2e',
  'graphql-guide',
  'graphql-http',
  'hidden-columns',
  'idempotency.e2e',
  'metrics',
  'client-types',
  'make-module',
  'migration-rules',
  'monitoring',
  'playground',
  'reference',
  'site.e2e',
  'src/platform/config',
  'test/database',
];

const copy = CopyOfProject.untilExit();
const data = join(copy.folder, 'data');
const before = await Service.start({ DATA_DIR: data });
const found = await statusesOf(before);
await before.end();
if (found.includes(404)) throw new Error(`Before they are removed, they are ${found.join(', ')}`);

const names = Object.keys(REMOVALS);
const output = await copy.script('remove', ...names);
const listed = new Set([...output.matchAll(/^- ([^:\n]+:\d+) /gm)].map(([, place]) => place!));
for (const [name, { named }] of Object.entries(REMOVALS)) {
  const unlisted = linesWith(named).filter((place) => !listed.has(place));
  if (unlisted.length > 0) throw new Error(`It does not list what names ${name}: ${unlisted.join(', ')}`);
}
console.log(`Removed: ${names.join(', ')}`);
await copy.check(CHECKS, 'without them');
await copy.test(...TESTS);
console.log('The tests pass');

const after = await Service.start({ DATA_DIR: data }, join(copy.folder, 'dist/main.js'));
const gone = await statusesOf(after);
await after.end();
if (gone.some((status) => status !== 404)) throw new Error(`Afterwards, they are ${gone.join(', ')}`);
console.log('The service starts on the data that it had, and has none of them');

async function statusesOf(service: Service): Promise<number[]> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
  const send = (path: string) => service.fetch(path, { method: 'POST', headers, body: '{}' });
  return Promise.all(Object.values(REMOVALS).map(async ({ path }) => (await send(path)).status));
}

/** The places in code, contracts and files of deployment. */
function linesWith(named: RegExp): string[] {
  return globSync(CODE, { cwd: copy.folder, exclude: EXCLUDED }).flatMap((file) =>
    readFileSync(join(copy.folder, file), 'utf8')
      .split('\n')
      .flatMap((line, n) => (named.test(line) ? [`${file}:${n + 1}`] : [])),
  );
}
