import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { Service } from './support/service.js';
import { createStore } from './support/stores.js';

describe('a second service', () => {
  it('on the same embedded database is refused in one line', async () => {
    const store = await createStore('SQLite');
    const first = await Service.start(store.environment);

    await expect(Service.start(store.environment)).rejects.toThrow(
      /ended with 1:\nAnother service has .*database\.sqlite open\n$/,
    );

    expect((await first.post()).status).toBe(201);
    await first.end('SIGKILL');
    const third = await Service.start(store.environment);
    expect((await third.fetch('/v1/posts/1')).status).toBe(200);
    await third.end();
    await store.remove();
  });

  it('on the same PostgreSQL serves the same data, however many start at once', async () => {
    const store = await createStore('PostgreSQL');
    const services = await Promise.all(Array.from({ length: 4 }, () => Service.start(store.environment)));

    const ids = await Promise.all(
      services.map(async (service) => ((await (await service.post()).json()) as any).data.id),
    );
    expect(ids.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4]);
    for (const service of services) {
      for (const id of ids) expect((await service.fetch(`/v1/posts/${id}`)).status).toBe(200);
      await service.end();
    }
    await store.remove();
  });
});

describe('WEB_CONCURRENCY', () => {
  const workersOf = ({ process: { pid } }: Service): number[] =>
    execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(pid)], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes('main.js'))
      .map((line) => Number.parseInt(line, 10));

  const until = async (condition: () => boolean) => {
    for (let waited = 0; !condition(); waited += 50) {
      if (waited > 10_000) throw new Error('It did not come about');
      await sleep(50);
    }
  };

  it('serves PostgreSQL with several processes, replaces those that die, and drains them all', async () => {
    const store = await createStore('PostgreSQL');
    const service = await Service.start({ ...store.environment, WEB_CONCURRENCY: '3' });
    const workers = workersOf(service);
    expect(workers).toHaveLength(3);

    process.kill(workers[0]!, 'SIGKILL');
    await until(() => !workersOf(service).includes(workers[0]!) && workersOf(service).length === 3);
    for (let n = 0; n < 10; n++) expect((await service.post()).status).toBe(201);

    expect(await service.end()).toMatchObject({ code: 0 });
    await store.remove();
  });

  it('is refused on the embedded database', async () => {
    await expect(Service.start({ WEB_CONCURRENCY: '2' })).rejects.toThrow(
      /ended with 1:[^]*WEB_CONCURRENCY must be 1 on the embedded database/,
    );
  });
});
