/**
 * Runs the core of the suite through PgBouncer in transaction mode. Part of `npm run test:system`; with `--all`, which
 * `npm run test:extra` uses, the whole suite. Where PgBouncer is not installed (PGBOUNCER_PATH is its path), the core is
 * skipped with a message, and the whole suite fails.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseCommandLine } from '../../src/commands/support/command-line.ts';
import { hasPgBouncer, startPgBouncer } from '../support/pgbouncer.ts';
import { startPostgres } from '../support/postgres-server.ts';

/** Tests of transactions, locks, searches, sessions and concurrency. */
const CORE = [
  'posts.e2e',
  'posts-list',
  'races',
  'idempotency.e2e',
  'unit-of-work',
  'users.e2e',
  'graphql.e2e',
  'tokens',
  'sessions',
  'migration-rules',
  'health',
  'slow-reads',
];

const { values, positionals } = parseCommandLine(
  'Usage: node test/system/pooler.ts [--all | files of tests, such as posts-list]',
  { options: { all: { type: 'boolean', default: false } }, allowPositionals: true },
);
const some = positionals.length > 0 ? positionals : CORE;
if (!hasPgBouncer) {
  console.log('SKIPPED: a pooler, because PgBouncer is not installed here (set PGBOUNCER_PATH)');
  process.exit(values.all ? 1 : 0);
}

const postgres = await startPostgres({ durable: false });
const pooler = await startPgBouncer(postgres.url).catch(async (error: unknown) => {
  await postgres.stop();
  throw error;
});
let status: number | null = 1;
try {
  const tests = spawn(
    process.execPath,
    ['node_modules/jest/bin/jest.js', '-t', 'PostgreSQL', ...(values.all ? [] : some)],
    {
      env: { ...process.env, TEST_DATABASE_URL: postgres.url, TEST_DATABASE_POOLER: pooler.url },
      stdio: 'inherit',
    },
  );
  [status] = (await once(tests, 'exit')) as [number | null];
} finally {
  pooler.stop();
  await postgres.stop();
}
process.exit(status ?? 1);
