import { execFileSync } from 'node:child_process';
import { Agent, get } from 'node:http';
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

/** Asks for a post over and over. @returns what came of each request: its status, or why there is none */
async function client(url: string, keepAlive: boolean, signal: AbortSignal): Promise<(number | string)[]> {
  const agent = new Agent({ keepAlive, maxSockets: 1 });
  const outcomes: (number | string)[] = [];
  while (!signal.aborted) {
    outcomes.push(
      await new Promise((resolve) => {
        get(`${url}/v1/posts/1`, { agent }, (reply) => {
          reply.resume().on('end', () => resolve(reply.statusCode!));
          reply.on('error', (error) => resolve(error.message));
        }).on('error', (error) => resolve(error.message));
      }),
    );
  }
  agent.destroy();
  return outcomes;
}

describe('WEB_CONCURRENCY', () => {
  const workersOf = (service: Service): number[] => servicesOf(service.process.pid!);

  const servicesOf = (parent: number): number[] =>
    execFileSync('ps', ['-eo', 'pid=,ppid=,args='], { encoding: 'utf8' })
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, ppid, ...command]) => Number(ppid) === parent && command.join(' ').includes('main.js'))
      .map(([pid]) => Number(pid));

  const until = async (condition: () => boolean) => {
    for (let waited = 0; !condition(); waited += 50) {
      if (waited > 30_000) throw new Error('It did not come about');
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

  it('starts when a worker dies before it listens', async () => {
    const store = await createStore('PostgreSQL');
    const starting = Service.start({ ...store.environment, WEB_CONCURRENCY: '2' });
    const [supervisor] = servicesOf(process.pid);
    await until(() => servicesOf(supervisor!).length > 0);
    process.kill(servicesOf(supervisor!)[0]!, 'SIGKILL');

    const service = await starting;
    expect(workersOf(service)).toHaveLength(2);
    expect((await service.post()).status).toBe(201);
    await service.end();
    await store.remove();
  });

  it('replaces its workers at SIGHUP, one after the other, without missing a request', async () => {
    const store = await createStore('PostgreSQL');
    // Long enough for each client to have its turn, also where many share the processor.
    const settings = { WEB_CONCURRENCY: '2', DRAIN_DELAY_MS: '3000' };
    const service = await Service.start({ ...store.environment, ...settings });
    await service.post();
    const done = new AbortController();
    const clients = Array.from({ length: 16 }, (_, n) => client(service.url, n % 2 === 0, done.signal));

    for (let round = 1; round <= 3; round++) {
      const old = workersOf(service);
      service.process.kill('SIGHUP');
      await until(
        () => workersOf(service).length === 2 && !workersOf(service).some((pid) => old.includes(pid)),
      );
    }
    done.abort();
    const outcomes = (await Promise.all(clients)).flat();

    expect(new Set(outcomes)).toEqual(new Set([200]));
    expect(outcomes.length).toBeGreaterThan(1000);
    expect(await service.end()).toMatchObject({ code: 0 });
    await store.remove();
  }, 120_000);

  it('keeps the workers that it has at SIGHUP when a new one does not start', async () => {
    const store = await createStore('PostgreSQL');
    const service = await Service.start({ ...store.environment, WEB_CONCURRENCY: '2' });
    const old = workersOf(service);

    service.process.kill('SIGHUP');
    await until(() => workersOf(service).length === 3);
    process.kill(
      workersOf(service).find((pid) => !old.includes(pid))!,
      'SIGKILL',
    );
    await until(() => service.output.includes('A new worker did not start'));

    expect(workersOf(service)).toEqual(old);
    expect((await service.post()).status).toBe(201);
    expect(await service.end()).toMatchObject({ code: 0 });
    await store.remove();
  });

  it('is refused on the embedded database', async () => {
    await expect(Service.start({ WEB_CONCURRENCY: '2' })).rejects.toThrow(
      /ended with 1:[^]*WEB_CONCURRENCY must be 1 on the embedded database/,
    );
  });
});
