import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { bearer } from './support/accounts.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { Receiver, respond } from './support/receiver.js';
import { pathOf, Webhooks } from './support/webhooks.js';

const SECOND = 1000;
const DAY = 24 * 60 * 60 * SECOND;

const servers = { receiver: () => new Receiver() };
onEach('Webhooks', { modules: [FixtureModule], servers }, ({ api, receiver }) => {
  let webhooks: Webhooks;
  let staff: Record<string, string>;
  beforeAll(async () => {
    webhooks = await Webhooks.of(api, receiver);
    ({ staff } = webhooks);
  });
  afterEach(async () => {
    receiver.behaviour = respond(204);
    await webhooks.removeAll();
  });

  it('are accessible to staff only', async () => {
    const ada = await api.accounts.logInNew('ada@example.com');
    for (const path of ['/v1/webhooks', '/v1/webhooks/1', '/v1/webhooks/1/deliveries']) {
      expect(await api.get(path)).toBeError('UNAUTHENTICATED');
      expect(await api.get(path, ada)).toBeError('FORBIDDEN');
    }
    for (const path of ['', '/1/test', '/1/rotate-secret', '/1/deliveries/1/redeliver']) {
      expect(await api.post(`/v1/webhooks${path}`, {}, ada)).toBeError('FORBIDDEN');
    }
    expect(await api.patch('/v1/webhooks/1', {}, ada)).toBeError('FORBIDDEN');
    expect(await api.delete('/v1/webhooks/1', ada)).toBeError('FORBIDDEN');
  });

  it('are stored by no cache', async () => {
    const reply = await api.post('/v1/webhooks', { url: 'https://example.com/', types: ['*'] }, staff);
    const path = reply.headers['location']!;
    const replies = [
      reply,
      await api.get('/v1/webhooks', staff),
      await api.get(path, staff),
      await api.patch(path, {}, staff),
      await api.post(`${path}/rotate-secret`, {}, staff),
      await api.get(`${path}/deliveries`, staff),
    ];

    expect(replies.map(({ status }) => status)).toEqual([201, 200, 200, 200, 200, 200]);
    for (const { headers } of replies) {
      expect(headers).toMatchObject({
        'cache-control': 'no-store',
        vary: expect.stringMatching(/Authorization, Cookie/),
      });
    }
  });

  it('are created with a secret that is shown once, read, listed, changed and deleted', async () => {
    // Here with the token of a login; the other tests use an API key.
    const login = bearer((await api.accounts.login('staff@example.com')).access);
    const body = {
      url: `${receiver.url}/x?y=z`,
      types: ['dummy.created', 'dummy.deleted', 'dummy.created'],
    };
    const reply = await api.post('/v1/webhooks', body, login);
    expect(reply).toHaveStatus(201);
    const { secret, ...shown } = reply.body.data;
    expect(Buffer.from(/^whsec_(.+)$/.exec(secret)![1]!, 'base64')).toHaveLength(32);
    expect(shown).toEqual({
      id: expect.any(Number),
      url: body.url,
      types: ['dummy.created', 'dummy.deleted'],
      description: '',
      active: true,
      created_at: expect.laterThan('2026-01-01T00:00:00.000Z'),
      updated_at: shown.created_at,
    });
    const path = pathOf(shown);
    expect(reply.headers['location']).toBe(path);
    expect((await api.get(path, login)).body).toEqual({ data: shown });
    expect((await api.get('/v1/webhooks', login)).body.data).toContainEqual(shown);

    const changes = { types: ['*'], description: 'ä'.repeat(200), active: false };
    const changed = await api.patch(path, { ...changes, url: null, secret: 'x' }, login);
    expect(changed.body.data).toEqual({ ...shown, ...changes, updated_at: expect.any(String) });
    expect(await api.delete(path, login)).toHaveStatus(204);
    expect(await api.delete(path, login)).toBeError('NOT_FOUND');
    expect(await api.get(path, login)).toBeError('NOT_FOUND');
    expect(await api.get('/v1/webhooks/abc', login)).toBeError('INVALID_ID');
  });

  it.each([
    ['no fields', {}, ['url', 'types']],
    ['a relative url', { url: '/x' }, ['url']],
    ['another scheme', { url: 'ftp://example.com' }, ['url']],
    ['credentials', { url: 'https://ada:pw@example.com' }, ['url']],
    ['empty credentials', { url: 'https://:@example.com' }, ['url']],
    ['no host', { url: 'https:///example.com' }, ['url']],
    ['a url without slashes', { url: 'http:example.com' }, ['url']],
    ['a space in a url', { url: ' https://example.com/' }, ['url']],
    ['a line break in a url', { url: 'https://example.com/a\nb' }, ['url']],
    ['a fragment', { url: 'https://example.com/#' }, ['url']],
    ['a long url', { url: `https://example.com/${'x'.repeat(2030)}` }, ['url']],
    ['a url that is not text', { url: 5 }, ['url']],
    ['no types', { types: [] }, ['types']],
    ['an unknown type', { types: ['dummy.exploded'] }, ['types']],
    ['* and others', { types: ['*', 'dummy.created'] }, ['types']],
    ['types that are not a list', { types: '*' }, ['types']],
    ['types that are not text', { types: [null] }, ['types']],
    ['two mistakes', { url: 'x', types: ['x'] }, ['url', 'types']],
    ['a long description', { description: 'x'.repeat(201) }, ['description']],
  ])('are rejected with %s', async (name, fields, wrong) => {
    const valid = name === 'no fields' ? {} : { url: 'https://example.com', types: ['*'] };
    expect(await api.post('/v1/webhooks', { ...valid, ...fields }, staff)).toBeError(
      'VALIDATION_ERROR',
      wrong,
    );
  });

  it('are rejected with a sentence for each bad field at once', async () => {
    const messages = (reply: { body: any }) =>
      Object.fromEntries(reply.body.error.details.map(({ field, message }: any) => [field, message]));
    const types = 'types must be a list of at least one event type';
    const url = 'url must be an absolute address such as https://receiver.example.com/events';
    const post = async (body: object) => messages(await api.post('/v1/webhooks', body, staff));

    expect(await post({ url: '/x' })).toEqual({ url, types });
    expect(await post({ url: '/x', types: [] })).toEqual({ url, types });
    expect(await post({ types: ['nope'] })).toEqual({
      url: 'url must be a string',
      types: expect.stringMatching(/^types must be \*, or some of .*dummy\.created, /),
    });
    expect(await post({ url: '/x', types: [5], description: 5 })).toEqual({
      url,
      types: 'types must be a list of event types, which are strings',
      description: 'description must be a string',
    });
    const changes = { url: '/x', types: 'nope', active: 'yes' };
    expect(messages(await webhooks.change(await webhooks.create(), changes))).toEqual({
      url,
      types,
      active: 'active must be true or false',
    });
  });

  it('are limited to 100', async () => {
    const createAnother = () => api.post('/v1/webhooks', { url: receiver.url, types: ['*'] }, staff);
    const made = [];
    for (let n = 0; n < 90; n++) made.push(await createAnother());
    // Each waits for a lock, so more concurrent requests could time out.
    made.push(...(await Promise.all(Array.from({ length: 15 }, createAnother))));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(100);
    for (const reply of made.filter(({ status }) => status !== 201)) expect(reply).toBeError('CONFLICT');
  });

  it('send a test event, and send it again with the same id', async () => {
    const webhook = await webhooks.create({ types: ['dummy.deleted'] });
    expect(await webhooks.sendTest(webhook)).toHaveStatus(202);
    const [test] = await receiver.at(webhook.path, 1);
    expect(JSON.parse(test!.body)).toMatchObject({ type: 'webhook.test', subject: pathOf(webhook) });
    expect(new Webhook(webhook.secret).verify(test!.body, test!.headers as any)).toBeTruthy();
    const { id } = await webhooks.untilStatus(webhook, 'delivered', 1);

    expect(await webhooks.redeliver(webhook, id)).toHaveStatus(202);
    const [, second] = await receiver.at(webhook.path, 2);
    expect(second!.headers['webhook-id']).toBe(test!.headers['webhook-id']);
    expect(second!.body).toBe(test!.body);
    await webhooks.untilStatus(webhook, 'delivered', 1);
    expect(await webhooks.redeliver(webhook, 999_999)).toBeError('NOT_FOUND');
    await webhooks.change(webhook, { active: false });
    expect(await webhooks.sendTest(webhook)).toBeError('CONFLICT');
  });

  it('list their deliveries by status, by cursor', async () => {
    const webhook = await webhooks.create({ types: ['dummy.deleted'] });
    for (let n = 0; n < 3; n++) {
      await webhooks.sendTest(webhook);
      await webhooks.untilStatus(webhook, 'delivered', 1);
    }
    receiver.behaviour = respond(410);
    await webhooks.sendTest(webhook);
    await webhooks.untilStatus(webhook, 'failed', 1);
    const list = async (query: string) =>
      (await api.get(`${pathOf(webhook)}/deliveries?${query}`, staff)).body;

    const all = (await list('status=')).data;
    expect(all).toHaveLength(4);
    expect((await list('status=failed')).data).toEqual([all[0]]);
    const first = await list('status=delivered&limit=2');
    expect(first).toMatchObject({ data: [all[1], all[2]], has_next: true });
    expect((await list('status=delivered&limit=1')).data).toEqual([all[1]]);
    const last = await list(`status=delivered&limit=2&cursor=${first.next_cursor}`);
    expect(last).toEqual({ data: [all[3]], has_next: false });
    for (const status of ['pending', 'Failed', 'x'])
      expect(await list(`status=${status}`)).toEqual({ data: [], has_next: false });
  });

  it('sign with each secret for a day after a rotation, at most ten times a day', async () => {
    // The secrets of another webhook stay its own.
    await webhooks.create();
    const webhook = await webhooks.create({ types: ['dummy.deleted'] });
    const secrets = [webhook.secret];
    const rotate = async () => {
      const rotated = await webhooks.rotateSecret(webhook);
      expect(rotated).toHaveStatus(200);
      secrets.push(rotated.body.data.secret);
    };
    for (let n = 0; n < 2; n++) await rotate();
    expect(new Set(secrets).size).toBe(3);
    const verifies = async (count: number) => {
      await webhooks.sendTest(webhook);
      const { body, headers } = (await receiver.at(webhook.path, count)).at(-1)!;
      // An attempt without a result would be repeated when the clock moves.
      await webhooks.untilStatus(webhook, 'delivered', 1);
      return secrets.map((secret) => {
        // The library also checks the time of the signature, but the test has moved the clock.
        const now = new Webhook(secret).sign(
          headers['webhook-id'] as string,
          new Date(Number(headers['webhook-timestamp']) * 1000),
          body,
        );
        return (headers['webhook-signature'] as string).split(' ').includes(now);
      });
    };

    expect(await verifies(1)).toEqual([true, true, true]);
    api.moveClock(DAY / 2);
    await rotate();
    expect(await verifies(2)).toEqual([true, true, true, true]);
    api.moveClock(DAY + SECOND);
    expect(await verifies(3)).toEqual([false, false, true, true]);
    for (let n = 0; n < 9; n++) await rotate();
    expect(await webhooks.rotateSecret(webhook)).toBeError('CONFLICT');
  });

  it('get different secrets from two concurrent rotations, and sign with both', async () => {
    const webhook = await webhooks.create({ types: ['dummy.deleted'] });
    const rotate = () => webhooks.rotateSecret(webhook);
    for (let round = 1; round <= 5; round++) {
      const secrets = (await Promise.all([rotate(), rotate()])).map(({ body }) => body.data.secret);
      expect(new Set(secrets).size).toBe(2);
      await webhooks.sendTest(webhook);
      const { body, headers } = (await receiver.at(webhook.path, round)).at(-1)!;
      for (const secret of secrets) expect(new Webhook(secret).verify(body, headers as any)).toBeTruthy();
    }
  });
});
