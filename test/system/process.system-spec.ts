import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { runCommand, spawnCommand } from '../support/command.js';
import { environmentOfProcess } from '../support/environment.js';
import { freePort } from '../support/free-port.js';
import { Service } from '../support/service.js';
import { ANY_STORE, createStore, STORES, type TestStore } from '../support/stores.js';
import { until } from '../support/until.js';

const run = promisify(execFile);

/** Whether the process does not accept new connections. */
const isRefused = ({ url }: Service) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });

/** How long a stopping process still serves, in milliseconds: it has to say at once that it is not ready. */
const DRAIN_DELAY = 2000;

describe.each(STORES)('the process on %s', (store) => {
  let testStore: TestStore;
  beforeAll(async () => {
    testStore = await createStore(store, { empty: true });
  });
  afterAll(() => testStore.remove());

  const start = (settings: Record<string, string> = {}) =>
    Service.withFixture({ ...testStore.environment, ...settings });

  /** A request whose body stays unfinished until `finish` is called. */
  async function slowPost({ url }: Service) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const body = '{"text":"Slow, but sure"}';
    const received = new Promise<string>((resolve) => {
      let text = '';
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('close', () => resolve(text));
    });
    socket.write(
      `POST /v1/dummies HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 9)}`,
    );
    await sleep(100);
    return { finish: () => socket.write(body.slice(9)), received };
  }

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'finishes requests in flight at %s, reports that it is not ready, and exits with 0',
    async (signal) => {
      const service = await start({ DRAIN_DELAY_MS: String(DRAIN_DELAY) });
      const { id } = ((await (await service.create()).json()) as any).data;
      const slow = await slowPost(service);

      const end = service.end(signal);
      let ready: any;
      const isNotReady = async () => {
        const response = await service.fetch('/health/ready');
        ready = await response.json();
        return response.status === 503;
      };
      await until('the process is not ready', isNotReady, DRAIN_DELAY / 2);
      expect(ready).toMatchObject({
        error: { code: 'SERVICE_UNAVAILABLE', details: [{ field: 'draining' }] },
      });
      expect((await service.fetch('/health')).status).toBe(200);
      expect((await service.fetch(`/v1/dummies/${id}`)).status).toBe(200);

      // A keep-alive connection is served one more request.
      await until('the process stops listening', () =>
        service.fetch('/health').then(
          () => false,
          (error: Error) => error.message === 'fetch failed',
        ),
      );
      slow.finish();
      expect(await slow.received).toMatch(/^HTTP\/1\.1 201 /);
      const { code, milliseconds } = await end;
      expect(code).toBe(0);
      expect(milliseconds).toBeLessThan(7000);
    },
  );

  it('serves one more request on an open connection once it stops listening, and closes it', async () => {
    const service = await start();
    const open = connect(Number(new URL(service.url).port), '127.0.0.1');
    const received: string[] = [];
    open.on('data', (chunk) => received.push(String(chunk)));
    open.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n');
    await until('the first response arrives', () => received.length > 0);

    const end = service.end();
    await until('the process stops listening', () => isRefused(service));
    open.write('\r\n');
    await end;

    expect(received.join('')).toMatch(/^HTTP\/1\.1 200 [^]*HTTP\/1\.1 200 [^]*\r\nconnection: close\r\n/i);
  });

  it('closes a connection on which nothing moves for 30 seconds', async () => {
    const service = await start();
    const idle = connect(Number(new URL(service.url).port), '127.0.0.1').resume();
    let isClosed = false;
    idle.once('close', () => (isClosed = true));
    idle.write('GET /health HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(idle, 'data');
    expect(isClosed).toBe(false);

    await until('it is closed', () => isClosed, 40_000);
    await service.end();
  });

  it('does not wait for connections that a browser has opened in advance', async () => {
    const service = await start();
    const unused = connect(Number(new URL(service.url).port), '127.0.0.1');
    await once(unused, 'connect');

    const { code, milliseconds } = await service.end();
    expect(code).toBe(0);
    expect(milliseconds).toBeLessThan(7000);
  });

  /** Sends requests while the process is so busy that it reads nothing. @returns how many of them got a response */
  async function whileBusy(
    { process: { pid } }: Service,
    send: () => Promise<Promise<Response>[]>,
    milliseconds: number,
  ): Promise<number> {
    process.kill(pid!, 'SIGSTOP');
    const responses = await send();
    await sleep(milliseconds);
    process.kill(pid!, 'SIGCONT');
    const statuses = await Promise.allSettled(responses);
    return statuses.filter((result) => result.status === 'fulfilled' && result.value.status === 200).length;
  }

  it('serves the requests on new connections that have arrived while it was busy', async () => {
    const service = await start({ DRAIN_DELAY_MS: '500' });
    const end = service.end();
    await until('it drains', () => service.output.includes('draining'));

    const send = async () => {
      const sent = Array.from({ length: 50 }, () => service.fetch('/v1/dummies'));
      await sleep(100);
      return sent;
    };
    expect(await whileBusy(service, send, 600)).toBe(50);
    expect((await end).code).toBe(0);
  });

  it('serves the requests on open connections that have arrived while it was busy', async () => {
    const service = await start();
    await Promise.all(Array.from({ length: 20 }, () => service.fetch('/health').then((r) => r.text())));
    const end = service.end();
    await until('the process stops listening', () => isRefused(service));

    const send = async () => Array.from({ length: 20 }, () => service.fetch('/v1/dummies'));
    expect(await whileBusy(service, send, 700)).toBe(20);
    expect((await end).code).toBe(0);
  });

  it('cuts off a request that never ends within 10 seconds, and exits with 1', async () => {
    const service = await start();
    await slowPost(service);

    const { code, milliseconds } = await service.end();

    expect(code).toBe(1);
    expect(service.output).toContain('The drain has reached its deadline');
    expect(milliseconds).toBeLessThan(10_000);
  });

  it('exits immediately at a second signal', async () => {
    const service = await start();
    await slowPost(service);

    const end = service.end();
    await until('the process stops listening', () => isRefused(service));
    service.process.kill('SIGTERM');
    const { code, milliseconds } = await end;

    expect(code).toBe(1);
    expect(milliseconds).toBeLessThan(2000);
  });

  describe('in production', () => {
    let service: Service;
    beforeAll(async () => {
      service = await start({ NODE_ENV: 'production', WRITE_ACCESS: 'open', JWT_SECRET: 'as'.repeat(16) });
    });
    afterAll(() => service.end());

    it('logs its address and the location of the data, without the password', () => {
      expect(service.output).toMatch(
        /Ready on http:\/\/127\.0\.0\.1:\d+, data in (SQLite in|PostgreSQL at) /,
      );
      expect(service.output).not.toContain('postgres:postgres@');
    });

    it('warns that everyone may write', () => {
      expect(service.log.find(({ level }) => level === 40)?.['msg']).toContain('WRITE_ACCESS');
    });

    it.each([
      ['PORT', 'HOST'],
      ['METRICS_PORT', 'METRICS_HOST'],
    ])('reports that %s is in use, and does not migrate', async (setting, host) => {
      const other = await createStore(store, { empty: true });
      const { port } = new URL(service.url);

      await expect(Service.start({ ...other.environment, [setting]: port })).rejects.toThrow(
        new RegExp(`ended with 1:[^]*\\b${host} and ${setting} cannot be used: .*127.0.0.1:${port}`),
      );
      const audited = await runCommand('audit', [], { environment: other.environment });
      expect(audited.output).toContain(
        store === 'SQLite' ? 'There is no database yet' : 'The schema of the database is older',
      );
      await other.remove();
    });

    it('logs one line of JSON for each request, without its content', async () => {
      const headers = {
        authorization: 'Bearer hunter2',
        cookie: 'session=hunter2',
        'x-request-id': 'from-client',
      };
      const reply = await service.fetch('/v1/dummies/77777?q=hunter2', { headers });
      await service.fetch('/v1/dummies', {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: '{"password":"hunter2"}',
      });
      await service.fetch('/nowhere/at-all?hunter2', { headers });
      expect(await service.end()).toMatchObject({ code: 0 });

      const requests = service.log.filter(({ requestId }) => requestId);
      expect(requests).toHaveLength(3);
      expect(requests[0]).toEqual({
        level: 30,
        time: expect.any(Number),
        requestId: reply.headers.get('x-request-id'),
        clientRequestId: 'from-client',
        method: 'GET',
        route: '/v1/dummies/:id',
        path: '/v1/dummies/77777',
        status: 404,
        milliseconds: expect.any(Number),
        address: '127.0.0.1',
      });
      expect(requests[2]!['path']).toBe('/nowhere/at-all');
      expect(requests.map(({ status }) => status)).toEqual([404, 422, 404]);
      for (const { milliseconds } of requests) expect(milliseconds).toBeGreaterThan(0);
      expect(service.output).not.toContain('hunter2');
    });
  });

  it('becomes ready when a command migrates its database', async () => {
    const other = await createStore(store, { empty: true });
    const service = await Service.start({ ...other.environment, MIGRATE: 'off' });
    expect((await service.fetch('/health/ready')).status).toBe(503);

    const command = () =>
      run(process.execPath, ['dist/commands/migrate.js', '--yes'], {
        env: { ...process.env, ...other.environment },
      });
    expect((await command()).stdout).toMatch(/Migrations run: [A-Z]\w+\d+, /);
    const again = await runCommand('migrate', [], { environment: other.environment });
    expect(again.output).toMatch('The schema is up to date');

    expect((await service.fetch('/health/ready')).status).toBe(200);
    const registration = { email: 'ada@example.com', name: 'Ada', password: 'correct horse' };
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify(registration);
    expect((await service.fetch('/auth/register/', { method: 'POST', headers, body })).status).toBe(201);
    await service.end();
    await other.remove();
  });
});

it('the start logs the addresses of the service, the OpenAPI page and the playground', async () => {
  const store = await createStore(ANY_STORE);
  const service = await Service.start(store.environment);
  await service.fetch('/health');
  await service.end();
  await store.remove();

  expect(service.output).toContain(`Ready on ${service.url}`);
  expect(service.output).toContain(`Reference at ${service.url}/docs, playground at ${service.url}/graphql`);
});

describe.each(STORES)('the log on %s', (store) => {
  const path = `/nowhere/${'x'.repeat(480)}`;
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await createStore(store);
  });
  afterEach(() => testStore.remove());

  /** Starts a service whose log nobody reads, and sends more requests than a pipe has room for. */
  async function startUnread(): Promise<Service> {
    const service = await Service.start(testStore.environment);
    service.process.stdout!.pause();
    for (let n = 0; n < 2000; n++) {
      expect((await service.fetch(path, { signal: AbortSignal.timeout(10_000) })).status).toBe(404);
    }
    return service;
  }

  it('is complete after a stop, although its reader was slow', async () => {
    const service = await startUnread();
    const allRead = once(service.process, 'close');
    const ended = service.end();
    await until('the service has stopped listening', () => isRefused(service));
    // Long enough for the rest of the stop, which then waits for the reader.
    await sleep(500);
    service.process.stdout!.resume();

    expect(await ended).toMatchObject({ code: 0 });
    await allRead;
    expect(service.log.filter((line) => line['path'] === path)).toHaveLength(2000);
  });

  it('warns about the number of lines that were lost, when its reader continues', async () => {
    const service = await Service.start(testStore.environment);
    service.process.stdout!.pause();
    // Each line has more than 900 bytes: together 18 MB, of which 16 MiB can wait.
    const headers = { 'X-Request-ID': 'x'.repeat(200) };
    for (let n = 0; n < 200; n++) {
      await Promise.all(Array.from({ length: 100 }, () => service.fetch(path, { headers })));
    }
    service.process.stdout!.resume();
    const warning = () => service.log.find(({ context }) => context === 'Log');
    await until('it warns', () => warning() !== undefined);
    await service.end();

    const [, lost] = /^(\d+) lines of the log were lost/.exec(warning()!['msg'])!;
    const written = service.log.filter((line) => line['path'] === path);
    expect(Number(lost)).toBeGreaterThan(0);
    expect(written.length + Number(lost)).toBe(20_000);
  });

  it('does not delay requests or the stop when its reader is stuck', async () => {
    const service = await startUnread();
    expect(await service.end()).toMatchObject({ code: 0 });
  });

  it('does not stop the service when its disk is full', async () => {
    const port = String(await freePort());
    const full = openSync('/dev/full', 'w');
    const service = spawn(process.execPath, ['dist/main.js'], {
      env: { ...environmentOfProcess(), ...testStore.environment, PORT: port, DRAIN_DELAY_MS: '0' },
      stdio: ['ignore', full, 'ignore'],
    });
    closeSync(full);
    const health = () =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('it serves', health);
    for (let n = 0; n < 20; n++) expect(await health()).toBe(true);
    service.kill();
    expect(await once(service, 'exit')).toEqual([0, null]);
  });
});

describe('a package without a binary', () => {
  it('is named in the error, with the command that compiles it', async () => {
    // `node-gyp-build` reads the platform from these variables, and so looks for a binary of another platform.
    const platform = { npm_config_platform: 'darwin', npm_config_arch: 'x64' };

    await expect(Service.start(platform)).rejects.toThrow(
      /ended with 1:\nThe package argon2 has no binary for [^\n]*npm rebuild argon2[^\n]*\n$/,
    );
  });
});

describe('an invalid configuration', () => {
  it('stops the start with the names of the settings, without their values', async () => {
    await expect(Service.start({ NODE_ENV: 'production', JWT_SECRET: 'hunter2', PORT: 'x' })).rejects.toThrow(
      /ended with 1:(?=[^]*PORT must be)(?=[^]*JWT_SECRET must be)(?![^]*hunter2)(?![^]*\n\s+at )/,
    );
  });
});

describe('a data folder', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'data-folder-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it.each([
    ['a folder that cannot be created', () => '/proc/x', 'DATA_DIR cannot be used: ENOENT'],
    ['a file', () => join(folder, 'file'), 'DATA_DIR cannot be used: .*file is a file'],
    ['a folder below a file', () => join(folder, 'file/below'), 'DATA_DIR cannot be used: .*file is a file'],
    ['a damaged database', () => folder, 'DATA_DIR cannot be used: .*damaged: restore a backup'],
  ])('that is %s stops the start with a one-line error', async (_, directory, message) => {
    await writeFile(join(folder, 'file'), '');
    await writeFile(join(folder, 'database.sqlite'), 'This is no database.'.repeat(1000));

    await expect(Service.start({ DATA_DIR: directory() })).rejects.toThrow(
      new RegExp(`^The service ended with 1:\\n(?:\\{.*\\n)*${message}[^\\n]*\\n$`),
    );
  });

  it('that accepts no bytes has no file of a key after the failed start', async () => {
    const script = `import(process.argv[1]).then((m) => m.developmentSecret(process.argv[2]))`;
    const module = join(process.cwd(), 'dist/platform/config/development-secret.js');
    // The limit is zero bytes in each file; without the signal, a write fails as on a full disk.
    const limited = `trap '' XFSZ; ulimit -f 0; exec "$0" -e "$1" "$2" "$3"`;
    const failed = run('bash', ['-c', limited, process.execPath, script, module, folder]);

    await expect(failed).rejects.toThrow(/EFBIG/);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each(STORES)('has files that only their owner can read, whatever the umask is: on %s', async (store) => {
    await chmod(folder, 0o755);
    const testStore = await createStore(store, { empty: true });
    const settings = {
      ...testStore.environment,
      DATA_DIR: folder,
      NODE_ENV: 'development',
      NODE_OPTIONS: '--import data:text/javascript,process.umask(0)',
    };
    expect(await spawnCommand('migrate', ['--yes'], { environment: settings })).toMatchObject({ code: 0 });
    const service = await Service.withFixture(settings);
    await service.create();
    const account = { email: 'ada@example.com', name: 'Ada', password: 'nanosecond wire' };
    await service.fetch('/auth/register/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(account),
    });
    await until('a mail is written', () => service.output.includes('A mail was written'));
    if (store === 'SQLite') await spawnCommand('backup', [join(folder, 'backup')], { environment: settings });
    await service.end();

    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const names = entries.map(({ name }) => name);
    expect(names).toContain('jwt-secret');
    expect(names.some((name) => name.endsWith('.eml'))).toBe(true);
    expect(names.includes('backup')).toBe(store === 'SQLite');
    for (const entry of entries) {
      const { mode } = await stat(join(entry.parentPath, entry.name));
      expect([entry.name, (mode & 0o777).toString(8)]).toEqual([
        entry.name,
        entry.isDirectory() ? '700' : '600',
      ]);
    }
    await testStore.remove();
  });

  it('that other users can open contains a database that they cannot read', async () => {
    await chmod(folder, 0o755);
    const service = await Service.withFixture({ DATA_DIR: folder });
    await service.create();

    for (const file of ['database.sqlite', 'database.sqlite-wal', 'jwt-secret']) {
      expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600);
    }
    await service.end();
  });
});
