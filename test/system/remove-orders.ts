/**
 * Removes the orders from a copy of the project, as docs/your-own-service.md says: nothing but sentences names them, the
 * checks pass, and so do the tests of what had named them. Part of `npm run test:system`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CopyOfProject } from '../support/copy-of-project.ts';
import { Service } from '../support/service.ts';

const CHECKS = ['format', 'lint', 'types', 'boundaries', 'dead-code', 'openapi'];

/** Of what named the orders: the schema, the contracts, the guides, and what refers to accounts. */
const TESTS = [
  'account-deletion',
  'account-export',
  'bodies',
  'docs.e2e',
  'graphql.e2e',
  'graphql-guide',
  'idempotency.e2e',
  'migration-rules',
  'playground',
  'recipes/graphql/keyed-operations',
  'reference',
  'test/database',
  'test/events.e2e',
];

const copy = new CopyOfProject();
const data = mkdtempSync(join(tmpdir(), 'posts-api-data-'));
try {
  const before = await Service.start({ DATA_DIR: data });
  const created = await order(before);
  await before.end();
  if (created !== 201) throw new Error(`An order was ${created}`);

  const output = await copy.mustRun('npm', 'run', '--silent', 'remove', '--', 'orders');
  const left = [...output.matchAll(/^- ([^:\n]+):\d+ /gm)].map(([, file]) => file!);
  const inCode = left.filter((file) => !/^test\/extra\/|\.md$/.test(file));
  if (inCode.join(',') !== 'src/accounts/accounts.controller.ts')
    throw new Error(`Code still names the orders: ${inCode.join(', ')}`);
  for (const file of ['schema.gql', 'public/openapi.json', 'examples/client/api.d.ts']) {
    if (/\/v1\/orders|createOrder/.test(readFileSync(join(copy.folder, file), 'utf8')))
      throw new Error(`${file} still has the orders`);
  }
  for (const name of CHECKS) {
    await copy.mustRun('npm', 'run', '--silent', `check:${name}`);
    console.log(`check:${name} passes without orders`);
  }
  await copy.mustRun('npx', 'jest', ...TESTS);
  console.log('The tests pass');

  const after = await Service.start({ DATA_DIR: data }, join(copy.folder, 'dist/main.js'));
  const refused = await order(after);
  await after.end();
  if (refused !== 404) throw new Error(`An order was ${refused}`);
  console.log('They are removed, with their table');
} catch (error) {
  console.log((error as Error).message);
  process.exitCode = 1;
} finally {
  copy.remove();
  rmSync(data, { recursive: true });
}

async function order(service: Service): Promise<number> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
  const { status } = await service.fetch('/v1/orders', { method: 'POST', headers, body: '{}' });
  return status;
}
