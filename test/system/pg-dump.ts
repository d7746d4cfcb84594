/**
 * The recovery drill of docs/operations.md on PostgreSQL: writes under load, `pg_dump`, the loss of the database,
 * `pg_restore`, a start, counts by `psql`. It uses a server of the version of `pg_dump`, because an older one
 * rejects a newer server. Part of `npm run test:system`; skipped with a message where PostgreSQL is not installed.
 */
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startOwnPostgres } from '../support/postgres-server.ts';
import { Service } from '../support/service.ts';
import { createStore, type TestStore } from '../support/stores.ts';
import { environmentOfProcess } from '../support/environment.ts';

/** The number of concurrent writers. */
const WRITERS = 4;

const bin = globSync('/usr/lib/postgresql/*/bin').findLast(
  (folder) => globSync('{pg_dump,pg_restore,psql,initdb,postgres}', { cwd: folder }).length === 5,
);
if (bin === undefined) {
  console.log('SKIPPED: the recovery drill with pg_dump, because PostgreSQL is not installed here');
  process.exit(0);
}

const server = await startOwnPostgres({ bin });
process.env['TEST_DATABASE_URL'] = server.url;
let missing: readonly string[] = ['everything'];
try {
  missing = await drill(await createStore('PostgreSQL'), await createStore('PostgreSQL'));
} finally {
  await server.stop();
}
if (missing.length > 0) console.log(`Lost: ${missing.join(', ')}`);
process.exit(missing.length > 0 ? 1 : 0);

/** @returns what was acknowledged before the backup started, and is missing after the restore */
async function drill(store: TestStore, empty: TestStore): Promise<string[]> {
  const service = await Service.withFixture(store.environment);
  const acknowledged: string[] = [];
  const writers = Array.from({ length: WRITERS }, () => writeUntilEnd(service, acknowledged));
  while (acknowledged.length < 50) await sleep(20);

  const before = [...acknowledged];
  const dump = join(store.environment['DATA_DIR']!, 'service.dump');
  await run(join(bin!, 'pg_dump'), ['--format=custom', `--file=${dump}`, store.environment['DATABASE_URL']!]);
  await service.end('SIGKILL');
  await Promise.all(writers);

  const url = empty.environment['DATABASE_URL']!;
  await run(join(bin!, 'pg_restore'), ['--exit-on-error', '--no-owner', `--dbname=${url}`, dump]);
  const restored = await Service.withFixture(empty.environment);
  console.log(await run(join(bin!, 'psql'), ['--command=SELECT count(*) AS dummies FROM dummies', url]));
  const lost: string[] = [];
  for (const path of before) if ((await restored.fetch(path)).status !== 200) lost.push(path);
  if ((await restored.create()).status !== 201) lost.push('new dummies');
  await restored.end();
  await Promise.all([store.remove(), empty.remove()]);
  console.log(
    `${before.length} dummies were acknowledged before the dump, ${before.length - lost.length} are restored`,
  );
  return lost;
}

async function writeUntilEnd(service: Service, acknowledged: string[]): Promise<void> {
  try {
    for (;;) {
      const reply = await service.create();
      if (reply.status === 201) acknowledged.push(reply.headers.get('location')!);
    }
  } catch {
    // The service was killed.
  }
}

/** @throws Error with the output when it fails */
async function run(command: string, parameters: readonly string[]): Promise<string> {
  return (await promisify(execFile)(command, parameters, { env: environmentOfProcess() })).stdout;
}
