import { Controller, Get, Module, NotFoundException, Post } from '@nestjs/common';
import { beforeAll, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { OptionalAccess, Public } from '../src/platform/access/index.js';
import { Page } from '../src/platform/http/pages/page.js';
import { created } from '../src/platform/http/responses/created.js';
import { withEntityTag, ReplyWithEntityTag } from '../src/platform/http/responses/entity-tag.js';
import { paged } from '../src/platform/http/responses/paged.js';
import { bearer } from './support/accounts.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';

/** Handlers of a module whose author does not think of caches. */
@Controller('notes')
class NotesController {
  @Get('mine')
  mine(): object {
    return {};
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException();
  }

  @OptionalAccess()
  @Get('more')
  more(): object {
    return {};
  }

  @Public()
  @Get('public')
  shared(): object {
    return {};
  }

  @Public()
  @Post('failing')
  failing(@ReplyWithEntityTag() reply: FastifyReply): never {
    created(reply, '/notes', { id: 1 });
    paged(reply, new Page([1], { total: 2, page: 1, limit: 1, has_next: true }));
    withEntityTag(reply, { version: 1, createdAt: new Date() });
    throw new NotFoundException();
  }
}

@Module({ controllers: [NotesController] })
class NotesModule {}

const PRIVATE = { 'cache-control': 'no-store', vary: expect.stringMatching(/Authorization, Cookie/) };

const PROTECTED = { settings: { WRITE_ACCESS: 'authenticated' }, modules: [FixtureModule, NotesModule] };
onEach('responses that depend on who asks', PROTECTED, ({ api }) => {
  let ada: Record<string, string>;
  let staff: Record<string, string>;
  beforeAll(async () => {
    ada = await api.accounts.logInNew('ada@example.com');
    staff = await api.accounts.logInNewStaff();
  });

  it.each(['/v1/stubs', '/v1/stubs/999'])('are stored by no cache, whoever asks: %s', async (path) => {
    for (const headers of [{}, ada, staff, bearer('x')]) {
      expect((await api.get(path, headers)).headers).toMatchObject(PRIVATE);
    }
  });

  it('are stored by the cache of the caller only, which revalidates them, if they have a tag', async () => {
    const reply = await api.post('/v1/stubs', {}, { ...ada, 'idempotency-key': 'a' });
    const path = `/v1/stubs/${reply.body.data.id}`;
    const found = await api.get(path, ada);
    const unchanged = await api.get(path, { ...ada, 'if-none-match': found.headers['etag']! });

    expect(unchanged).toHaveStatus(304);
    for (const { headers } of [reply, found, unchanged]) {
      expect(headers).toMatchObject({ ...PRIVATE, 'cache-control': 'private, no-cache' });
    }
    expect((await api.get(path, staff)).headers['cache-control']).toBe('private, no-cache');
  });

  it('are those of every handler that requires an account, or may use one', async () => {
    await expect(api.get('/notes/mine', ada)).resolves.toMatchObject({ status: 200, headers: PRIVATE });
    await expect(api.get('/notes/mine')).resolves.toMatchObject({ status: 401, headers: PRIVATE });
    await expect(api.get('/notes/missing', ada)).resolves.toMatchObject({ status: 404, headers: PRIVATE });
    await expect(api.get('/notes/more')).resolves.toMatchObject({ status: 200, headers: PRIVATE });
    expect((await api.get('/notes/public')).headers['cache-control']).toBe('no-cache');
  });

  it('are errors without the headers of a resource that a handler has set before', async () => {
    const reply = await api.post('/notes/failing', {});

    expect(reply).toBeError('NOT_FOUND');
    for (const name of ['etag', 'link', 'location']) expect(reply.headers).not.toHaveProperty(name);
  });

  it('are not those that everyone may read', async () => {
    const reply = await api.post('/v1/dummies', { text: 'A' }, ada);
    const found = await api.get(reply.headers['location']!, ada);

    for (const { headers } of [reply, found]) {
      expect(headers['cache-control']).toBe('no-cache');
      expect(headers['vary'] ?? '').not.toContain('Cookie');
    }
    expect((await api.get('/v1/dummies', ada)).headers['cache-control']).toBe('no-cache');
  });

  it('include errors that come before the guard', async () => {
    const large = { text: 'x'.repeat(64 * 1024) };
    const reply = await api.post('/v1/stubs', large, { ...ada, 'idempotency-key': 'b' });
    expect(reply).toBeError('PAYLOAD_TOO_LARGE');
    expect(reply.headers).toMatchObject(PRIVATE);
    for (const path of ['/v1/stubs', '/v1/events', '/v1/webhooks', '/v1/audit']) {
      const twoHosts = await ambiguous(path);
      expect(twoHosts).toBeError('MALFORMED_REQUEST');
      expect([path, twoHosts.headers]).toEqual([path, expect.objectContaining(PRIVATE)]);
    }
    expect((await ambiguous('/v1/dummies')).headers['cache-control']).toBe('no-cache');
  });

  /** A request that is rejected before the guard. */
  const ambiguous = (url: string) =>
    api.send({ method: 'GET', url, headers: { 'transfer-encoding': 'gzip, chunked' } });
});

const SHARED = { settings: { CORS_ORIGINS: 'https://a.example' }, modules: [FixtureModule, NotesModule] };
onEach('a shared cache', SHARED, ({ api }) => {
  // RFC 9111, section 4.2.2: without a lifetime of their own, caches may invent one.
  it.each([
    ['GET', '/v1/dummies', 200],
    ['GET', '/v1/dummies?cursor=', 200],
    ['GET', '/v1/dummies/999999999', 404],
    ['GET', '/v1/dummies/x', 400],
    ['GET', '/v1/stubs', 200],
    ['GET', '/v1/events', 200],
    ['GET', '/v1/events?cursor=x', 400],
    ['DELETE', '/v1/dummies', 405],
    ['OPTIONS', '/v1/dummies', 405],
    ['POST', '/v1/dummies', 422],
    ['GET', '/v1/nothing', 404],
    ['GET', '/authors', 404],
    ['GET', '/', 200],
    ['GET', '/docs', 200],
    ['GET', '/robots.txt', 200],
    ['GET', '/site/nothing.js', 404],
    ['GET', '/notes/public', 200],
    ['GET', '/notes/more', 200],
  ] as const)('asks again before it serves %s %s', async (method, path, status) => {
    for (const headers of [{}, { accept: 'text/html' }]) {
      const reply = await api.send({ method, url: path, headers });
      expect([reply.status, reply.headers['cache-control']]).toEqual([status, 'no-cache']);
    }
  });

  it.each(['/health', '/health/ready', '/health/nothing', '/graphql', '/v1/events/stream?last_event_id=x'])(
    'stores nothing of %s',
    async (path) => expect((await api.get(path)).headers['cache-control']).toBe('no-store'),
  );
});

onEach('errors of unknown paths', {}, ({ api }) => {
  it('are stored by no cache below the paths of authentication', async () => {
    for (const path of [
      '/auth/nothing',
      '/auth/register/nothing',
      '/auth/sessions/1/nothing',
      '/auth/sessions//',
    ]) {
      const reply = await api.get(path);
      expect(reply).toBeError('NOT_FOUND');
      expect([path, reply.headers['cache-control']]).toEqual([path, 'no-store']);
    }
    const wrong = await api.get('/auth/register/');
    expect(wrong).toBeError('METHOD_NOT_ALLOWED');
    expect(wrong.headers['cache-control']).toBe('no-store');
  });
});
