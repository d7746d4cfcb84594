import type { Type } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { InjectOptions } from 'fastify';
import { Registry } from 'prom-client';
import { createApp } from '../../src/app.js';
import { EventLog, Subscribers } from '../../src/platform/changes/index.js';
import { Clock } from '../../src/platform/jobs/clock.js';
import { Poller } from '../../src/platform/jobs/poller.js';
import type { Config } from '../../src/platform/config/config.js';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { TestAccounts } from './accounts.js';
import { patiently } from './concurrent.js';
import { MailServer } from './mail-server.js';
import { QuickPasswordsModule } from './quick-passwords.module.js';
import { checkAgainstReference } from './reference.js';
import { type Rows, rowsOf } from './rows.js';
import { createStore, type StoreName } from './stores.js';
import { until } from './until.js';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The parsed JSON, or the text if it is not JSON; `undefined` for an empty body. */
  readonly body: any;
  readonly text: string;
}

/** An application, and what it was started with. */
interface Started {
  readonly app: NestFastifyApplication;
  readonly config: Config;
  readonly modules?: readonly Type[];
  /** Is called after the stop. */
  readonly removeStore?: () => Promise<void>;
}

export interface Dummy {
  readonly id: number;
  readonly account_id: number | null;
  readonly text: string;
  readonly status: string;
  readonly counter: number;
  readonly created_at: string;
  readonly updated_at: string;
}

export type Settings = Readonly<Record<string, string>>;

/** The real application on its own database; requests go through the whole pipeline. */
export class TestApi {
  /** What most tests write: the dummies of the `FixtureModule`, if the application has it. */
  readonly dummies = {
    create: async (fields: Partial<Dummy> = {}): Promise<Dummy> =>
      created(await patiently(() => this.post('/v1/dummies', { text: 'Some text', ...fields }))),
    get: async (id: number): Promise<Dummy> => (await this.get(`/v1/dummies/${id}`)).body.data,
    count: async (): Promise<number> => (await this.get('/v1/dummies')).body.meta.total,
  };

  private started: Started | undefined;
  /** How far the clock was moved, in milliseconds; nothing if it is that of the process. */
  private moved: number | undefined;

  readonly accounts = new TestAccounts(this);

  /** @param started may follow by {@link use}, so that tests can be defined before */
  constructor(started?: Started) {
    this.started = started;
  }

  use(started: Started): void {
    this.started = started;
    this.moved = undefined;
  }

  get app(): NestFastifyApplication {
    return this.running.app;
  }

  get config(): Config {
    return this.running.config;
  }

  /** What no call of the API shows or makes. */
  get rows(): Rows {
    return rowsOf(this.app);
  }

  async send(options: InjectOptions): Promise<Reply> {
    const { statusCode, headers, payload } = await this.app.inject(options);
    const isJson = /^application\/([\w-]+\+)?json/.test(String(headers['content-type']));
    const body = payload === '' ? undefined : isJson ? JSON.parse(payload) : payload;
    const reply = { status: statusCode, headers: headers as Reply['headers'], body, text: payload };
    checkAgainstReference(options.method ?? 'GET', options.url as string, reply);
    return reply;
  }

  /** Sends the HEAD, too: its status and headers must be those of the GET. */
  async get(url: string, headers: Record<string, string> = {}): Promise<Reply> {
    const reply = await this.getOnly(url, headers);
    if (IS_LOGIN.test(url)) return reply;
    const other = await this.send({ method: 'HEAD', url, headers });
    const head = comparable(other);
    if (head === comparable(reply)) return reply;
    // What the test waits for may have happened meanwhile.
    const later = comparable(await this.getOnly(url, headers));
    if (head !== later) throw new Error(`HEAD ${url} differs from GET: ${head}, ${later}`);
    return reply;
  }

  /** Without the HEAD, where requests count, or their method matters. */
  getOnly(url: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send({ method: 'GET', url, headers });
  }

  post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.sendJson('POST', url, body, headers);
  }

  patch(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.sendJson('PATCH', url, body, headers);
  }

  put(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.sendJson('PUT', url, body, headers);
  }

  delete(url: string, headers: Record<string, string> = {}, body?: unknown): Promise<Reply> {
    if (body !== undefined) return this.sendJson('DELETE', url, body, headers);
    return this.send({ method: 'DELETE', url, headers });
  }

  graphql(query: string, variables?: object, headers: Record<string, string> = {}): Promise<Reply> {
    return this.post('/graphql', { query, ...(variables && { variables }) }, headers);
  }

  /** Listens on a free port. @returns the URL */
  async listen(): Promise<string> {
    await this.app.listen(0, '127.0.0.1');
    return this.app.getUrl();
  }

  /** Moves the clock of the service by milliseconds from the present; negative values move it to the past. */
  moveClock(milliseconds: number): void {
    this.moved = milliseconds;
    this.app.get(Clock).now = () => new Date(Date.now() + milliseconds);
    this.wakeJobs();
  }

  /** Sets the clock of the service to the present again, if a test has changed it. */
  resetClock(): void {
    if (this.moved === undefined) return;
    this.moveClock(0);
    this.moved = undefined;
  }

  /** Looks for jobs at once, as the next poll would. */
  wakeJobs(): void {
    for (const poller of pollersOf(this.app)) poller.wake();
  }

  /** Moves the clock of the service by milliseconds from where it is. */
  advanceClock(milliseconds: number): void {
    this.moveClock((this.moved ?? 0) + milliseconds);
  }

  /** The time of the service. */
  get now(): Date {
    return this.app.get(Clock).now();
  }

  /** Stops the clock of the service at a time, so that nothing becomes due while a test waits. */
  stopClock(time: number): void {
    this.moved = time - Date.now();
    this.app.get(Clock).now = () => new Date(time);
    this.wakeJobs();
  }

  /** Waits until the outbox has no mail of a kind, because moving the clock past its lease would send it again. */
  async mailsSent(kind: string): Promise<void> {
    const count = `SELECT count(*) AS n FROM mails WHERE kind = :kind`;
    await until(`all mails of the kind ${kind} are sent`, async () => {
      const row = await this.rows.one<{ n: number }>(count, { kind });
      return row!.n === 0;
    });
  }

  /** Stops the application, and starts it again on the same database, with changed settings. */
  async restart(changes: Partial<Config> = {}): Promise<void> {
    await this.close();
    const config: Config = Object.assign({}, this.config, changes);
    const { modules, removeStore } = this.running;
    await startOn(config, modules, removeStore, this);
  }

  /**
   * Starts a second application on the same database, as another process would. Stop it before this one, which removes
   * the database.
   */
  async replica(): Promise<TestApi> {
    const { config, modules = DEFAULT_MODULES } = this.running;
    const other = new TestApi({ app: await createApp(config, { modules }), config, modules });
    pollOften(this, other);
    return other;
  }

  /** Does nothing if the start has failed. */
  async stop(): Promise<void> {
    if (!this.started) return;
    try {
      await this.close();
    } finally {
      await this.started.removeStore?.();
    }
  }

  /** @throws Error if something that requests have counted up did not fall again, whatever the tests have done */
  private async close(): Promise<void> {
    await this.app.close();
    const registry = this.app.get(Registry, { strict: false });
    // A team may have removed the events.
    const consumers = registry.getSingleMetric('event_consumers') ? ['event_consumers'] : [];
    for (const name of [...FALLING, ...consumers]) {
      const { values } = await registry.getSingleMetric(name)!.get();
      if (values.some(({ value }) => value !== 0))
        throw new Error(`${name} is not 0 after the stop: ${JSON.stringify(values)}`);
    }
  }

  private get running(): Started {
    if (!this.started) throw new Error('The application has not started: only tests and hooks can use it');
    return this.started;
  }

  private sendJson(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    url: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Reply> {
    const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    return this.send({ method, url, headers: { 'content-type': 'application/json', ...headers }, payload });
  }
}

/** Gauges of what is in progress or waits. */
const FALLING = [
  'http_server_held_response_bytes',
  'http_server_large_bodies_running',
  'http_server_large_bodies_waiting',
  'password_hashing_running',
  'password_hashing_waiting',
];

/** A `GET` that logs in, as the provider's redirect is one; a `HEAD` must not. */
const IS_LOGIN = /^\/auth\/social\/[^/?]+/;

/** Headers that differ from response to response. */
const VARYING =
  /^(x-request-id|date|set-cookie|(x-)?ratelimit-.*|retry-after|connection|content-length|transfer-encoding)$/;

const comparable = ({ status, headers }: Reply): string =>
  JSON.stringify([
    status,
    Object.entries(headers)
      .filter(([name]) => !VARYING.test(name))
      .toSorted(([a], [b]) => a.localeCompare(b)),
  ]);

/** The created resource. */
export function created({ status, text, body }: Reply): any {
  if (status !== 201) throw new Error(`Nothing was created (a 404 may lack a module): ${status} ${text}`);
  return body.data;
}

const DEFAULT_MODULES: readonly Type[] = [QuickPasswordsModule];

/** @param modules are added to those of the service; without the default ones, passwords have their full cost */
export async function startApi(
  store: StoreName,
  settings: Settings = {},
  modules = DEFAULT_MODULES,
  api = new TestApi(),
): Promise<TestApi> {
  const { environment, ...testStore } = await createStore(store, { empty: settings['MIGRATE'] === 'off' });
  return startApiOn({ ...environment, ...settings }, modules, () => testStore.remove(), api);
}

/** Starts with a server for its mails, which stops with it. */
export async function startApiWithMails(
  store: StoreName,
  settings: Settings = {},
  modules = DEFAULT_MODULES,
): Promise<{ api: TestApi; mails: MailServer }> {
  const mails = await new MailServer().start();
  const { environment, ...testStore } = await createStore(store);
  const api = await startApiOn({ ...environment, ...mails.settings, ...settings }, modules, async () => {
    await mails.stop();
    await testStore.remove();
  });
  return { api, mails };
}

/** Starts on an existing database, which is kept unless `removeStore` removes it. */
export async function startApiOn(
  environment: Settings,
  modules = DEFAULT_MODULES,
  removeStore?: () => Promise<void>,
  api?: TestApi,
): Promise<TestApi> {
  const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...environment });
  return startOn(config, modules, removeStore, api);
}

async function startOn(
  config: Config,
  modules: readonly Type[] = DEFAULT_MODULES,
  removeStore = async (): Promise<void> => undefined,
  api = new TestApi(),
): Promise<TestApi> {
  api.use({ app: await createApp(config, { modules }), config, modules, removeStore });
  // After a wake-up that is lost, a test of one process fails.
  poll(api, SELDOM, SELDOM);
  return api;
}

/** In milliseconds. */
const SELDOM = 600_000;

/** Polls as in production, for retries, and for jobs and events that another process adds. */
export function pollOften(...apis: readonly TestApi[]): void {
  for (const api of apis) poll(api, 1000, 500);
}

/** Polls at once, for what an earlier process has left, and then at these intervals. */
function poll(api: TestApi, ofJobs: number, ofEvents: number): void {
  for (const poller of pollersOf(api.app)) poller.interval = ofJobs;
  api.wakeJobs();
  const log = api.app.get(EventLog, { strict: false });
  log.interval = ofEvents;
  log.wake();
}

function pollersOf(app: NestFastifyApplication): readonly Poller<unknown>[] {
  const providers = app.get(DiscoveryService, { strict: false }).getProviders();
  return [
    ...providers.map(({ instance }) => instance as unknown).filter((each) => each instanceof Poller),
    ...app.get(Subscribers).subscriptions.values(),
  ];
}
