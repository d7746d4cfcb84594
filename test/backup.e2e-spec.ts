import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import Database from 'better-sqlite3';
import { startApiOn } from './support/api.js';
import { runCommand, spawnCommand } from './support/command.js';
import { Service } from './support/service.js';
import { createStore, type TestStore } from './support/stores.js';
import { until } from './support/until.js';

/** Number of concurrent writers. */
const WRITERS = 4;

const REJECTED = /is damaged|cannot be read as a database/;

describe('a backup of the embedded database', () => {
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
  const start = () => startApiOn({ DATA_DIR: data });
  const startProcess = () => Service.start({ DATA_DIR: data });

  const using =
    (runIt: typeof runCommand) =>
    (name: string, ...parameters: string[]) =>
      runIt(name, parameters, { environment: { DATA_DIR: data } });
  const run = using(runCommand);
  const spawn = using(spawnCommand);

  /** Creates posts and orders until the service is killed. @returns the paths of the acknowledged ones */
  function writeUntilEnd(service: Service) {
    const acknowledged: string[] = [];
    const write = async (writer: number): Promise<void> => {
      try {
        for (let n = 0; ; n++) {
          const headers = { 'idempotency-key': `${writer}-${n}` };
          const body = JSON.stringify({ item: `${writer}-${n}` });
          for (const reply of [
            await service.post(`Post ${writer}-${n}`),
            await service.fetch('/v1/orders', { method: 'POST', headers, body }),
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
    expect(await spawn('backup', backup)).toMatchObject({ code: 0 });
    const during = acknowledged.length;
    await until('writes went on', () => acknowledged.length > during);
    await service.end('SIGKILL');
    await ended;
    rmSync(data, { recursive: true });

    expect(await spawn('restore', '--yes', backup)).toMatchObject({ code: 0 });
    const { code, output } = await spawn('verify');
    expect({ code, output }).toMatchObject({ code: 0 });
    expect(output).toContain('All totals are correct');
    const restored = await start();
    for (const path of before) expect(await restored.get(path)).toHaveStatus(200);
    const posts = await restored.posts.count();
    expect(output).toContain(`\nposts: ${posts.toLocaleString('en')} rows\n`);
    await restored.stop();
  });

  it('is a single file that only its owner can read, also after a kill of the service', async () => {
    const service = await startProcess();
    await service.post();
    await service.end('SIGKILL');

    expect(await run('backup', backup)).toMatchObject({ code: 0 });

    expect(statSync(backup).mode & 0o777).toBe(0o600);
    expect(readdirSync(store.environment['DATA_DIR']!).toSorted()).toEqual(['backup.sqlite', 'data']);
    expect(await run('restore', backup)).toMatchObject({ code: 0 });
    const restored = await start();
    expect(await restored.get('/v1/posts/1')).toHaveStatus(200);
    await restored.stop();
  });

  it('never replaces a file', async () => {
    await (await start()).stop();
    writeFileSync(backup, 'Something else');

    const { code, output } = await run('backup', backup);

    expect(code).toBe(1);
    expect(output).toMatch(/already exists; choose another file name\n$/);
    expect(readFileSync(backup, 'utf8')).toBe('Something else');
  });

  it('is not restored while a service runs, and the data stays unchanged', async () => {
    const service = await start();
    await service.posts.create({ title: 'Before' });
    await run('backup', backup);
    await service.posts.create({ title: 'After' });

    const { code, output } = await run('restore', backup);

    expect(code).toBe(1);
    expect(output).toMatch(/^Database: .+\nA service or a command uses .*: stop it first\n$/);
    expect(await service.get('/v1/posts/2')).toHaveStatus(200);
    await service.stop();
  });

  it('replaces the current database, and keeps it beside the restored one', async () => {
    const service = await startProcess();
    await service.post('Before');
    await run('backup', backup);
    await service.post('After');
    await service.end('SIGKILL');

    const { code, output } = await run('restore', backup);

    expect(code).toBe(0);
    const kept = /was saved as (.+)\n/.exec(output)![1]!;
    const restored = await start();
    expect(await restored.get('/v1/posts/2')).toHaveStatus(404);
    await restored.stop();
    const { output: audited } = await run('audit');
    expect(JSON.parse(audited)).toMatchObject({
      account_id: null,
      action: 'command restore',
      subject: 'database',
      agent: expect.stringMatching(/^user \S+$/),
    });
    await run('restore', kept);
    const undone = await start();
    expect(await undone.get('/v1/posts/2')).toHaveStatus(200);
    await undone.stop();
  });

  it('replaces a damaged database, and keeps it unchanged', async () => {
    const service = await start();
    await service.posts.create();
    await run('backup', backup);
    await service.stop();
    writeFileSync(join(data, 'database.sqlite'), 'This is no database.'.repeat(1000));
    writeFileSync(join(data, 'database.sqlite-wal'), 'And this is no log.');

    const { code, output } = await run('restore', backup);

    expect({ code, output }).toMatchObject({ code: 0 });
    const kept = /was saved as (.+)\n/.exec(output)![1]!;
    expect(readFileSync(kept, 'utf8')).toMatch(/^This is no database/);
    expect(existsSync(`${kept}-wal`)).toBe(true);
    const restored = await start();
    expect(await restored.get('/v1/posts/1')).toHaveStatus(200);
    await restored.stop();
  });

  it('is rejected by restore and verify with any changed bit, and accepted without one', async () => {
    const service = await start();
    await service.posts.create({ content: 'x'.repeat(20_000) });
    await service.stop();
    await run('backup', backup);
    const original = readFileSync(backup);
    const bits = original.length * 8;
    // All over the file, and in each of the last bytes, which have the checksum.
    const places = [
      ...Array.from({ length: 12 }, (_, n) => Math.floor((n * bits) / 12) + (n % 8)),
      ...Array.from({ length: 75 }, (_, n) => bits - 8 * (n + 1) + (n % 8)),
    ];

    for (const [n, place] of places.entries()) {
      const changed = Buffer.from(original);
      changed[place >> 3]! ^= 1 << (place & 7);
      writeFileSync(backup, changed);
      const verified = await run('verify', backup);
      expect({ place, ...verified }).toMatchObject({ code: 1, output: expect.stringMatching(REJECTED) });
      if (n % 10 > 0) continue;
      const restored = await run('restore', backup);
      expect({ place, ...restored }).toMatchObject({ code: 1, output: expect.stringMatching(REJECTED) });
    }

    writeFileSync(backup, original);
    expect(await run('verify', backup)).toMatchObject({ code: 0 });
    expect(await run('restore', backup)).toMatchObject({ code: 0 });
    const kept = readdirSync(data).find((name) => name.includes('before-restore'))!;
    expect((await run('verify', join(data, kept))).output).toContain('without a checksum');
    expect((await run('verify', `${backup}.missing`)).output).toMatch(/^There is no file /);
  });

  it.each([
    ['missing', () => rmSync(backup), /^Database: .+\nThere is no file /],
    ['not a database', () => writeFileSync(backup, 'x'.repeat(9000)), /cannot be read as a database/],
    ['a folder', () => (rmSync(backup), mkdirSync(backup)), /cannot be read as a database/],
    ['truncated', () => truncateSync(backup, statSync(backup).size - 8192), /is damaged|cannot be read/],
    ['the database of another program', () => makeAnother(backup), /is not a database of this service/],
  ])('is rejected if it is %s, and the data stays unchanged', async (_, spoil, message) => {
    const service = await start();
    await service.posts.create();
    await service.stop();
    await run('backup', backup);
    spoil();

    const { code, output } = await run('restore', backup);

    expect(code).toBe(1);
    expect(output).toMatch(message);
    expect(output).not.toMatch(/\n\s+at /);
    const again = await start();
    expect(await again.get('/v1/posts/1')).toHaveStatus(200);
    await again.stop();
    expect(readdirSync(data).filter((name) => name.includes('restor'))).toEqual([]);
  });
});

function makeAnother(file: string): void {
  rmSync(file);
  new Database(file).exec('CREATE TABLE notes (text text)').close();
}
