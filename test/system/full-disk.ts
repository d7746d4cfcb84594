/**
 * Fills the disk of the database while the service writes: writes are 503, reads work, also after a restart, readiness
 * names the storage, and all of it recovers when there is space again, with all acknowledged writes and no others. A
 * start on a read-only disk serves reads. Part of `npm run test:system`; it mounts a small file system, which only
 * root may do, and is skipped otherwise.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { startPostgres } from '../support/postgres-server.ts';
import { Service } from '../support/service.ts';
import { createStore, type StoreName, STORES, type TestStore } from '../support/stores.ts';

/** Size of the file system in bytes; a migrated database takes about a third of it. */
const SIZE = 48 * 1024 * 1024;

const disk = mkdtempSync(join(tmpdir(), 'posts-api-disk-'));
try {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'tmpfs', disk], { stdio: 'pipe' });
} catch {
  console.log('SKIPPED: a full disk, because no file system can be mounted here');
  process.exit(0);
}
const postgres = await startPostgres();
process.env['TEST_DATABASE_URL'] = postgres.url;
const faults: string[] = [];
try {
  for (const name of STORES) {
    const store = name === 'SQLite' ? onDiskOfSqlite() : await onDiskOfPostgres();
    await fillDisk(name, store);
    await store.remove();
  }
} finally {
  await postgres.stop();
  execFileSync('umount', [disk]);
  rmSync(disk, { recursive: true });
}
for (const fault of faults) console.log(`  Failed: ${fault}`);
process.exit(faults.length > 0 ? 1 : 0);

function onDiskOfSqlite(): TestStore {
  const folder = join(disk, 'data');
  return {
    environment: { DATA_DIR: folder },
    remove: async () => rmSync(folder, { recursive: true }),
  };
}

/** A database in a tablespace on the full disk; the other files of the server are on another disk. */
async function onDiskOfPostgres(): Promise<TestStore> {
  const folder = join(disk, 'tablespace');
  mkdirSync(folder);
  // The server runs as another user.
  chmodSync(disk, 0o777);
  execFileSync('chown', ['-R', '65534:65534', folder]);
  const client = new Client(postgres.url);
  await client.connect();
  await client.query(`CREATE TABLESPACE small LOCATION '${folder}'`);
  await client.end();
  return createStore('PostgreSQL', { options: 'TABLESPACE small' });
}

async function fillDisk(name: StoreName, { environment }: TestStore): Promise<void> {
  let service = await Service.withFixture(environment);
  const expect = (what: string, isMet: boolean) => {
    if (!isMet) faults.push(`${name}: ${what}`);
  };
  const create = (size: number) => service.create('x'.repeat(size));
  const readiness = async () => (await service.fetch('/health/ready')).text();

  const first = await create(100);
  expect('a first write succeeds', first.status === 201);
  const filler = join(disk, 'filler');
  fillUp(filler);
  chmodSync(disk, 0o777);

  const statuses = new Set<number>();
  let created = 1;
  for (let n = 0; n < 5; n++) {
    // Together, because SQLite commits concurrent writes together.
    for (const { status } of await Promise.all([1, 2, 3, 4].map(() => create(500_000)))) {
      if (status === 201) created++;
      else statuses.add(status);
    }
  }
  expect(`writes on a full disk are 503, not ${[...statuses].join()}`, [...statuses].join() === '503');
  expect('readiness names the storage', (await readiness()).includes('storage'));
  expect('reads continue', (await service.fetch('/v1/dummies/1')).status === 200);
  await service.end();
  fillUp(join(disk, 'rest'));
  service = await Service.withFixture(environment);
  expect('a start on a full disk serves reads', (await service.fetch('/v1/dummies/1')).status === 200);
  const rejected = await create(500_000);
  expect(`a write after it is 503, not ${rejected.status}`, rejected.status === 503);

  rmSync(join(disk, 'rest'));
  rmSync(filler);
  expect('readiness recovers by itself', await becomesReady(service));
  const { meta } = (await (await service.fetch('/v1/dummies?limit=1')).json()) as { meta: { total: number } };
  expect(`${created} dummies are stored, not ${meta.total}`, meta.total === created);
  expect('writes work again', (await create(500_000)).status === 201);
  await service.end();
  console.log(`${name}: tested with a full disk`);
  if (name === 'SQLite') await startReadOnly(environment, expect);
}

async function startReadOnly(
  environment: TestStore['environment'],
  expect: (what: string, isMet: boolean) => void,
): Promise<void> {
  execFileSync('mount', ['-o', 'remount,ro', disk]);
  try {
    const service = await Service.withFixture(environment);
    expect('a start on a read-only disk serves reads', (await service.fetch('/v1/dummies/1')).status === 200);
    expect('a search succeeds', (await service.fetch('/v1/dummies?q=text')).status === 200);
    const rejected = await service.create();
    expect(`a write after it is 503, not ${rejected.status}`, rejected.status === 503);
    const readiness = await service.fetch('/health/ready');
    expect('readiness names the storage', (await readiness.text()).includes('storage'));

    execFileSync('mount', ['-o', 'remount,rw', disk]);
    const accepted = await service.create();
    expect(
      `a write on a disk that can be written again is 201, not ${accepted.status}`,
      accepted.status === 201,
    );
    const { data } = (await accepted.json()) as { data: { id: number } };
    for (const path of [`/v1/dummies/${data.id}`, '/v1/dummies?q=text']) {
      const { status } = await service.fetch(path);
      expect(`then ${path} is 200, not ${status}`, status === 200);
    }
    expect('readiness recovers by itself', await becomesReady(service));
    const events = await (await service.fetch('/v1/events?types=dummy.created&limit=100')).text();
    expect('its event is in the feed', events.includes(`"/v1/dummies/${data.id}"`));
    const second = await Service.withFixture(environment).then(
      () => 'started',
      () => 'rejected',
    );
    expect('a second service is rejected', second === 'rejected');
    await service.end('SIGKILL');
    const next = await Service.withFixture(environment);
    const kept = await next.fetch(`/v1/dummies/${data.id}`);
    expect('the write survives the process', kept.status === 200);
    await next.end();
  } finally {
    execFileSync('mount', ['-o', 'remount,rw', disk]);
  }
  console.log('SQLite: tested with a read-only disk');
}

async function becomesReady(service: Service): Promise<boolean> {
  for (let waited = 0; waited < 10_000; waited += 200) {
    await sleep(200);
    if ((await service.fetch('/health/ready')).status === 200) return true;
  }
  return false;
}

/** Writes until the file system is full; its reported free size is wrong, because the database server also writes. */
function fillUp(path: string): void {
  const block = Buffer.alloc(65_536);
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, block);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}
