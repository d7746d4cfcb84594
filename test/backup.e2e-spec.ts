import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startApiOn } from './support/api.js';
import { runCommand, spawnCommand } from './support/command.js';
import { FixtureModule } from './support/fixture.module.js';
import { Service } from './support/service.js';
import { createStore, ifEmbedded, type TestStore } from './support/stores.js';
import { until } from './support/until.js';

/** Number of concurrent writers. */
const WRITERS = 4;

ifEmbedded(describe)('a backup of the embedded database', () => {
  let store: TestStore;
  let data: string;
  let backup: string;
  beforeEach(async () => {
    store = await createStore('SQLite', { empty: true });
    data = join(store.environment['DATA_DIR']!, 'data');
    backup = join(store.environment['DATA_DIR']!, 'backup.sqlite');
  });
  afterEach(() => store.remove());

  /** The application runs in this process, `spawn` runs a command in another. */
  const start = () => startApiOn({ DATA_DIR: data }, [FixtureModule]);
  const startProcess = () => Service.withFixture({ DATA_DIR: data });

  const using =
    (runIt: typeof runCommand) =>
    (...parameters: string[]) =>
      runIt('backup', parameters, { environment: { DATA_DIR: data } });
  const run = using(runCommand);
  const spawn = using(spawnCommand);

  /** As docs/operations.md says, while no service runs. */
  const restore = () => {
    for (const name of ['database.sqlite-wal', 'database.sqlite-shm'])
      rmSync(join(data, name), { force: true });
    mkdirSync(data, { recursive: true });
    copyFileSync(backup, join(data, 'database.sqlite'));
  };

  /** Creates dummies, also with keys, until the service is killed. @returns the paths of the acknowledged ones */
  function writeUntilEnd(service: Service) {
    const acknowledged: string[] = [];
    const write = async (writer: number): Promise<void> => {
      try {
        for (let n = 0; ; n++) {
          const headers = { 'content-type': 'application/json', 'idempotency-key': `${writer}-${n}` };
          const body = JSON.stringify({ text: `Dummy ${writer}-${n} with a key` });
          for (const reply of [
            await service.create(`Dummy ${writer}-${n}`),
            await service.fetch('/v1/dummies', { method: 'POST', headers, body }),
          ]) {
            if (reply.status === 201) acknowledged.push(reply.headers.get('location')!);
          }
        }
      } catch {
        // The service was killed.
      }
    };
    const ended = Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
    return { acknowledged, ended };
  }

  it('made under writes contains every write acknowledged before it, after the loss of the folder', async () => {
    const service = await startProcess();
    const { acknowledged, ended } = writeUntilEnd(service);
    await until('something is acknowledged', () => acknowledged.length > 40);

    const before = [...acknowledged];
    expect(await spawn(backup)).toMatchObject({ code: 0 });
    const during = acknowledged.length;
    await until('writes went on', () => acknowledged.length > during);
    await service.end('SIGKILL');
    await ended;
    rmSync(data, { recursive: true });

    restore();
    const restored = await start();
    for (const path of before) expect(await restored.get(path)).toHaveStatus(200);
    const total = await restored.dummies.count();
    const listed = (await restored.get('/v1/dummies?cursor=&limit=100')).body.data;
    expect(listed).toHaveLength(Math.min(100, total));
    expect((await restored.get('/v1/dummies?q=ummy')).body.meta.total).toBe(total);
    await restored.stop();
  });

  it('is a single file that only its owner can read, also after a kill of the service', async () => {
    const service = await startProcess();
    await service.create();
    await service.end('SIGKILL');

    const { code, output } = await run(backup);

    expect(code).toBe(0);
    expect(output).toContain('jwt-secret');
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(readdirSync(store.environment['DATA_DIR']!).toSorted()).toEqual(['backup.sqlite', 'data']);
    restore();
    const restored = await start();
    expect(await restored.get('/v1/dummies/1')).toHaveStatus(200);
    await restored.stop();
  });

  it('replaces the database of a service that was killed', async () => {
    const service = await startProcess();
    await service.create('Before');
    await run(backup);
    await service.create('After');
    await service.end('SIGKILL');

    restore();
    const restored = await start();
    expect(await restored.get('/v1/dummies/2')).toHaveStatus(404);
    expect((await restored.dummies.create({ text: 'Another' })).id).toBe(2);
    await restored.stop();
  });

  it('says when there is no database, or no folder for the copy', async () => {
    const early = await run(backup);
    expect([early.code, early.output]).toEqual([
      1,
      expect.stringContaining(`There is no database in ${data}`),
    ]);

    await (await start()).stop();
    const lost = join(data, 'none', 'backup.sqlite');
    const { code, output } = await run(lost);
    expect([code, output]).toEqual([1, expect.stringContaining(`There is no folder ${join(data, 'none')}`)]);
  });

  it('never replaces a file', async () => {
    await (await start()).stop();
    writeFileSync(backup, 'Something else');

    const { code, output } = await run(backup);

    expect(code).toBe(1);
    expect(output).toMatch(/already exists; choose another file name\n$/);
    expect(readFileSync(backup, 'utf8')).toBe('Something else');
  });

  it.each<[string, () => void]>([
    ['no database', () => writeFileSync(join(data, 'database.sqlite'), 'x'.repeat(9000))],
    [
      'damaged',
      () => {
        const file = join(data, 'database.sqlite');
        chmodSync(file, 0o600);
        const bytes = readFileSync(file);
        bytes.fill(0xff, 4096, 40_000);
        writeFileSync(file, bytes);
      },
    ],
  ])('is not made of a file that is %s', async (_, spoil) => {
    await (await start()).stop();
    spoil();

    const { code, output } = await run(backup);

    expect(code).toBe(1);
    expect(output).toMatch(/cannot be copied|is damaged/);
    expect(output).not.toMatch(/\n\s+at /);
    expect(readdirSync(store.environment['DATA_DIR']!)).toEqual(['data']);
    expect(existsSync(backup)).toBe(false);
  });
});
