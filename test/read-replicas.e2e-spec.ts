import { Controller, Get, Module, Post } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createApp } from '../src/app.factory.js';
import { Public } from '../src/auth/access/index.js';
import { loadConfig } from '../src/config/load-config.js';
import { Database } from '../src/database/database.js';
import { Queries } from '../src/database/queries.js';
import { MetricsServer } from '../src/metrics/metrics-server.js';
import { User } from '../src/users/user.entity.js';
import { PASSWORD, TestApi } from './support/api.js';
import { type PostgresServer, startOwnPostgres } from './support/postgres-server.js';
import { Standby, standbyBinaries } from './support/standby.js';
import { until } from './support/until.js';

@Controller('probe')
@Public()
class ProbeController {
  constructor(
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly queries: Queries,
  ) {}

  @Get('primary')
  async primary() {
    return { count: await this.users.count() };
  }

  @Get('replica')
  async replica() {
    return { count: await this.queries.onReplica(() => this.users.count()) };
  }

  @Get('after-write')
  async afterWrite() {
    await this.users.save(
      this.users.create({ name: 'Written by GET', email: '', createdAt: new Date(), updatedAt: new Date() }),
    );
    return this.replica();
  }

  @Post('replica')
  post() {
    return this.replica();
  }
}

@Module({ imports: [TypeOrmModule.forFeature([User])], controllers: [ProbeController] })
class ProbeModule {}

const TOKEN = 'consistency-token';

async function start(environment: Record<string, string>): Promise<TestApi> {
  const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...environment });
  return new TestApi(await createApp(config, { modules: [ProbeModule] }), config, async () => undefined);
}

(standbyBinaries === undefined ? describe.skip : describe)('a read replica', () => {
  let primary: PostgresServer;
  let standby: Standby;
  let api: TestApi;

  const isUsed = () => api.app.get(Database).replication!.states()[0]!.isUsed;
  /** Stops the replay, so that later writes do not reach the standby. */
  const pause = async () => {
    await until('the standby is used', isUsed);
    await standby.query('SELECT pg_wal_replay_pause()');
  };
  const resume = () => standby.query('SELECT pg_wal_replay_resume()');
  const statusOf = async (path: string, headers = {}) => (await api.get(path, headers)).status;

  beforeAll(async () => {
    primary = await startOwnPostgres({ bin: standbyBinaries!, durable: false });
    standby = await Standby.of(primary.url, standbyBinaries!);
    api = await start({ DATABASE_URL: primary.url, DATABASE_REPLICA_URLS: standby.url, METRICS_PORT: '0' });
    await api.posts.create();
  });

  afterAll(async () => {
    await api.stop();
    await standby.stop();
    await primary.stop();
  });

  it('serves requests without a token, and others once it has replayed their writes', async () => {
    await pause();
    const { headers, body } = await api.post('/v1/posts', { title: 'New', content: 'New' });
    const path = `/v1/posts/${body.data.id}`;
    const token = headers[TOKEN]!;

    expect(token).toMatch(/^[\dA-F]{16}$/);
    expect((await api.get('/v1/posts')).body.meta.total).toBe(body.data.id - 1);
    expect((await api.get('/v1/posts?q=new')).body.data).toEqual([]);

    expect(await statusOf(path, { [TOKEN]: token })).toBe(200);
    expect(await statusOf(path, { cookie: `consistency=${token}` })).toBe(200);
    expect((await api.get('/v1/posts', { [TOKEN]: token })).body.meta.total).toBe(body.data.id);
    expect((await api.get('/v1/posts?q=new', { [TOKEN]: token })).body.data).toHaveLength(1);

    await resume();
    const total = async () => (await api.get('/v1/posts')).body.meta.total;
    await until('the standby has replayed the post', async () => (await total()) === body.data.id);
    expect(await statusOf(path, { [TOKEN]: token })).toBe(200);
  });

  it('does not decide that a post or a user is missing', async () => {
    await pause();
    const post = await api.posts.create({ title: 'Fresh' });
    const user = await api.users.create({ name: 'Fresh' });
    await api.posts.createBy(Number(user.id), ['By the new user']);

    expect((await api.get(`/v1/posts/${post.id}`)).body.data).toEqual(post);
    expect((await api.get(`/v1/users/1/posts/${post.id}`)).body.data).toEqual(post);
    expect((await api.get(`/v2/users/${user.id}`)).body.data).toEqual(user);
    expect((await api.get(`/v1/users/${user.id}`)).body.name).toBe('Fresh');
    expect((await api.get(`/v1/users/${user.id}/posts`)).body.data).toHaveLength(1);
    const { body } = await api.graphql(`{ user(id: "${user.id}") { name posts { title author { name } } } }`);
    const posts = [{ title: 'By the new user', author: { name: 'Fresh' } }];
    expect(body).toEqual({ data: { user: { name: 'Fresh', posts } } });

    expect(await statusOf(`/v1/posts/${post.id + 1000}`)).toBe(404);
    expect(await statusOf('/v1/users/999999')).toBe(404);
    await resume();
  });

  it('serves queries of GraphQL, but not mutations', async () => {
    await pause();
    const made = await api.graphql(
      'mutation { createUser(input: { name: "Ada", email: "" }) { id posts { id } } }',
    );
    const query = `{ user(id: "${made.body.data.createUser.id}") { name posts { id } } }`;
    const token = made.headers[TOKEN]!;

    expect((await api.graphql('{ users(limit: 100) { name } }')).body.data.users).not.toContainEqual({
      name: 'Ada',
    });
    expect((await api.graphql(query)).headers).not.toHaveProperty(TOKEN);
    const fresh = { data: { user: { name: 'Ada', posts: [] } } };
    expect((await api.graphql(query, undefined, { [TOKEN]: token })).body).toEqual(fresh);
    await resume();
  });

  it('does not serve requests that may write, nor reads that decide', async () => {
    await pause();
    const { id } = await api.posts.create({ title: 'First' });
    const first = await api.patch(`/v1/posts/${id}`, { title: 'Second' });
    const etag = first.headers['etag']!;

    expect((await api.patch(`/v1/posts/${id}`, {}, { 'if-match': etag })).status).toBe(200);
    await api.accounts.register('ada@example.com');
    const { cookie } = await api.accounts.session('ada@example.com');
    expect(await statusOf('/auth/session/', cookie)).toBe(200);
    const key = { 'idempotency-key': 'once' };
    const order = await api.post('/v1/orders', { a: 1 }, key);
    const again = await api.post('/v1/orders', { a: 1 }, key);
    expect(again.body).toEqual(order.body);
    expect(again.headers[TOKEN]! >= order.headers[TOKEN]!).toBe(true);
    expect(await statusOf(order.headers['location']!)).toBe(200);
    await resume();
  });

  it('serves repositories inside onReplica(), but not after a write of the request', async () => {
    const count = async (path: string) => (await api.get(`/probe/${path}`)).body.count;
    await until(
      'the standby is up to date',
      async () => (await count('replica')) === (await count('primary')),
    );
    await pause();
    const before = await count('primary');
    await api.users.create();

    expect(await count('primary')).toBe(before + 1);
    expect(await count('replica')).toBe(before);
    expect((await api.post('/probe/replica', {})).body.count).toBe(before + 1);

    const written = await api.get('/probe/after-write');
    expect(written.body.count).toBe(before + 2);
    expect(written.headers[TOKEN]).toBeDefined();
    await resume();
  });

  it('sends browsers the token in an HttpOnly cookie', async () => {
    const login = await api.post('/auth/session/', { email: 'ada@example.com', password: PASSWORD });
    const cookies = [login.headers['set-cookie']].flat().join('\n');

    expect(cookies).toContain(
      `consistency=${login.headers[TOKEN]}; Max-Age=60; Path=/; HttpOnly; SameSite=Lax`,
    );
    const { headers } = await api.post('/v1/posts', { title: 'A', content: 'B' });
    expect(headers).not.toHaveProperty('set-cookie');
    expect(headers['access-control-expose-headers']).toContain('Consistency-Token');
  });

  it.each(['', '1', 'FFFF', '0/16B374D8', '000000000000000g', '00000000000000000'])(
    'rejects the token %j, and ignores it in a cookie',
    async (token) => {
      expect(await api.get('/v1/posts/1', { [TOKEN]: token })).toBeError('MALFORMED_REQUEST');
      expect(await statusOf('/v1/posts/1', { cookie: `consistency=${token}` })).toBe(200);
    },
  );

  it('is shown in the metrics by host, without its password', async () => {
    await until('the standby is used', isUsed);
    const text = await (await fetch(api.app.get(MetricsServer).url!)).text();
    const { host } = new URL(standby.url);

    expect(text).toContain(`\ndb_replica_up{replica="${host}"} 1\n`);
    expect(text).toMatch(new RegExp(`\\ndb_replica_lag_seconds\\{replica="${host}"\\} [\\d.e-]+\\n`));
    expect(text).toContain(`db_client_connections_max{pool_name="replica ${host}"} 10`);
  });

  it('causes no token for a request that writes nothing', async () => {
    expect((await api.post('/v1/posts', { title: 5 })).headers).not.toHaveProperty(TOKEN);
    expect((await api.get('/v1/posts/1')).headers).not.toHaveProperty(TOKEN);
  });

  it('is not used if it is unreachable or not a standby', async () => {
    const urls = ['postgres://nobody:wrong@127.0.0.1:1/none', primary.url].join();
    const other = await start({ DATABASE_URL: primary.url, DATABASE_REPLICA_URLS: urls, MIGRATE: 'off' });
    const { body, headers } = await other.post('/v1/posts', { title: 'New', content: 'New' });

    expect((await other.get(`/v1/posts/${body.data.id}`)).status).toBe(200);
    expect((await other.get(`/v1/posts/${body.data.id}`, { [TOKEN]: headers[TOKEN]! })).status).toBe(200);
    expect(
      other.app
        .get(Database)
        .replication!.states()
        .map((each) => each.isUsed),
    ).toEqual([false, false]);
    await other.stop();
  });
});
