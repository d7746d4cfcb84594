import type { Type } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { InjectOptions } from 'fastify';
import { createApp } from '../../src/app.factory.js';
import type { Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load-config.js';
import { createStore, type StoreName } from './stores.js';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The parsed JSON, or the text where it is none; `undefined` for an empty body. */
  readonly body: any;
  readonly text: string;
}

export interface Post {
  readonly id: number;
  readonly title: string;
  readonly content: string;
  readonly author_id: number;
  readonly status: string;
  readonly created_at: string;
  readonly updated_at: string;
}

/** The real application on a database of its own; requests go through its whole pipeline. */
export class TestApi {
  readonly posts = {
    create: async (fields: Partial<Post> = {}): Promise<Post> =>
      (await this.post('/v1/posts', { title: 'A title', content: 'Some content', ...fields })).body.data,
    get: async (id: number): Promise<Post> => (await this.get(`/v1/posts/${id}`)).body.data,
    count: async (): Promise<number> => (await this.get('/v1/posts')).body.meta.total,
  };

  constructor(
    readonly app: NestFastifyApplication,
    readonly config: Config,
    private readonly removeStore: () => Promise<void>,
  ) {}

  async send(options: InjectOptions): Promise<Reply> {
    const { statusCode, headers, payload } = await this.app.inject(options);
    const isJson = String(headers['content-type']).startsWith('application/json');
    const body = payload === '' ? undefined : isJson ? JSON.parse(payload) : payload;
    return { status: statusCode, headers: headers as Reply['headers'], body, text: payload };
  }

  get(url: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send({ method: 'GET', url, headers });
  }

  post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.sendJson('POST', url, body, headers);
  }

  patch(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return this.sendJson('PATCH', url, body, headers);
  }

  delete(url: string, headers: Record<string, string> = {}): Promise<Reply> {
    return this.send({ method: 'DELETE', url, headers });
  }

  /** Stops the application and leaves its database, for another one to open. */
  async restart(): Promise<TestApi> {
    await this.app.close();
    return new TestApi(await createApp(this.config), this.config, this.removeStore);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.removeStore();
  }

  private sendJson(
    method: 'POST' | 'PATCH',
    url: string,
    body: unknown,
    headers: Record<string, string>,
  ): Promise<Reply> {
    const payload = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
    return this.send({ method, url, headers: { 'content-type': 'application/json', ...headers }, payload });
  }
}

export async function startApi(
  store: StoreName,
  settings: Readonly<Record<string, string>> = {},
  modules: readonly Type[] = [],
): Promise<TestApi> {
  const { environment, ...testStore } = await createStore(store);
  const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...environment, ...settings });
  return new TestApi(await createApp(config, modules), config, () => testStore.remove());
}
