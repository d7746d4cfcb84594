import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import { createApp } from '../src/app.js';
import type { PostgresStore } from '../src/platform/config/config.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { currentContext } from '../src/platform/http/request-context.js';
import { Transactions } from '../src/platform/database/transactions.js';
import { DeliveryBodies } from '../src/webhooks/delivery-bodies.js';
import { DeliveryQueue } from '../src/webhooks/delivery-queue.js';
import { bearer, startApi, TestApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { respond, Receiver } from './support/receiver.js';
import { createStore, STORES } from './support/stores.js';
import { untilBlocked } from './support/until-blocked.js';
import { until } from './support/until.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

async function staffOf(api: TestApi): Promise<Record<string, string>> {
  await api.accounts.register('staff@example.com');
  await api.accounts.admin().setStaff('staff@example.com', true);
  return bearer((await api.accounts.login('staff@example.com')).access);
}

/** Whether a call of a spied method has been successful. */
const hasResolved = ({ mock }: { mock: { results: { value: unknown }[] } }): Promise<boolean> =>
  Promise.any(mock.results.map(({ value }) => value)).then(
    () => true,
    () => false,
  );

describe.each(STORES)('Webhooks on %s', (store) => {
  let api: TestApi;
  let staff: Record<string, string>;
  let receiver: Receiver;
  let paths = 0;
  beforeAll(async () => {
    receiver = await Receiver.start();
    api = await startApi(store, {}, [FixtureModule]);
    staff = await staffOf(api);
  });
  afterAll(async () => {
    await api.stop();
    await receiver.stop();
  });

  /** Creates a webhook with its own path at the receiver. */
  const create = async (fields: object = {}) => {
    const path = `/${++paths}`;
    const reply = await api.post(
      '/v1/webhooks',
      { url: receiver.url + path, types: ['*'], ...fields },
      staff,
    );
    expect(reply).toHaveStatus(201);
    return { ...reply.body.data, path } as Record<string, any> & { path: string };
  };
  const remove = (webhook: Record<string, any>) => api.delete(`/v1/webhooks/${webhook['id']}`, staff);
  const deliveries = async (webhook: Record<string, any>): Promise<any[]> =>
    (await api.get(`/v1/webhooks/${webhook['id']}/deliveries`, staff)).body.data;
  const delivery = async (webhook: Record<string, any>) => (await deliveries(webhook))[0];
  const untilStatus = (webhook: Record<string, any>, status: string, attempts: number) =>
    until(`the delivery is ${status} after ${attempts} attempts`, async () => {
      const newest = await delivery(webhook);
      return newest?.status === status && newest.attempts === attempts;
    });

  const failingSince = async (webhook: Record<string, any>): Promise<unknown> => {
    const [row] = await api.rows.execute<{ since: unknown }>(
      'SELECT failing_since AS since FROM webhooks WHERE id = :id',
      { id: webhook['id'] },
    );
    return row!.since;
  };
  /** Ends an attempt, and waits until its result is recorded or ignored. */
  const settled = async (end: () => void): Promise<void> => {
    const settle = jest.spyOn(api.app.get(DeliveryQueue, { strict: false }), 'settle');
    end();
    await until('the result is processed', () => hasResolved(settle));
    settle.mockRestore();
  };

  it('are accessible to staff only', async () => {
    await api.accounts.register('ada@example.com');
    const ada = bearer((await api.accounts.login('ada@example.com')).access);
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
    const reply = await api.post(
      '/v1/webhooks',
      { url: 'https://example.com/', types: ['sample.created'] },
      staff,
    );
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
    await api.delete(path, staff);
  });

  it('are created with a secret that is shown once, read, listed, changed and deleted', async () => {
    const body = {
      url: `${receiver.url}/x?y=z`,
      types: ['sample.created', 'sample.deleted', 'sample.created'],
    };
    const reply = await api.post('/v1/webhooks', body, staff);
    expect(reply).toHaveStatus(201);
    const { secret, ...shown } = reply.body.data;
    expect(Buffer.from(/^whsec_(.+)$/.exec(secret)![1]!, 'base64')).toHaveLength(32);
    expect(shown).toEqual({
      id: expect.any(Number),
      url: body.url,
      types: ['sample.created', 'sample.deleted'],
      description: '',
      active: true,
      created_at: expect.laterThan('2026-01-01T00:00:00.000Z'),
      updated_at: shown.created_at,
    });
    const path = `/v1/webhooks/${shown.id}`;
    expect(reply.headers['location']).toBe(path);
    expect((await api.get(path, staff)).body).toEqual({ data: shown });
    expect((await api.get('/v1/webhooks', staff)).body.data).toContainEqual(shown);

    const changes = { types: ['*'], description: 'ä'.repeat(200), active: false };
    const changed = await api.patch(path, { ...changes, url: null, secret: 'x' }, staff);
    expect(changed.body.data).toEqual({ ...shown, ...changes, updated_at: expect.any(String) });
    expect(await api.delete(path, staff)).toHaveStatus(204);
    expect(await api.delete(path, staff)).toBeError('NOT_FOUND');
    expect(await api.get(path, staff)).toBeError('NOT_FOUND');
    expect(await api.get('/v1/webhooks/abc', staff)).toBeError('INVALID_ID');
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
    ['an unknown type', { types: ['sample.exploded'] }, ['types']],
    ['* and others', { types: ['*', 'sample.created'] }, ['types']],
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
    const messages = async (reply: Promise<any>) =>
      Object.fromEntries((await reply).body.error.details.map(({ field, message }: any) => [field, message]));
    const types = 'types must be a list of at least one event type';
    const url = 'url must be an absolute address such as https://receiver.example.com/events';
    const post = (body: object) => messages(api.post('/v1/webhooks', body, staff));

    expect(await post({ url: '/x' })).toEqual({ url, types });
    expect(await post({ url: '/x', types: [] })).toEqual({ url, types });
    expect(await post({ types: ['nope'] })).toEqual({
      url: 'url must be a string',
      types: expect.stringMatching(/^types must be \*, or some of .*sample\.created, /),
    });
    expect(await post({ url: '/x', types: [5], description: 5 })).toEqual({
      url,
      types: 'types must be a list of event types, which are strings',
      description: 'description must be a string',
    });
    const webhook = await create();
    const changes = { url: '/x', types: 'nope', active: 'yes' };
    expect(await messages(api.patch(`/v1/webhooks/${webhook['id']}`, changes, staff))).toEqual({
      url,
      types,
      active: 'active must be true or false',
    });
    await remove(webhook);
  });

  it('receive events that the official library verifies', async () => {
    const webhook = await create();
    const sample = await api.samples.create({ text: 'Ünï 😀' });
    const [delivered] = await receiver.at(webhook.path, 1);

    const verified = new Webhook(webhook['secret']).verify(delivered!.body, delivered!.headers as any);
    const { data } = (await api.get('/v1/events?types=sample.created&limit=100')).body;
    expect(verified).toEqual(data.at(-1));
    expect(data.at(-1).data).toEqual(sample);
    expect(delivered!.headers).toMatchObject({
      'webhook-id': data.at(-1).id,
      'content-type': 'application/json; charset=utf-8',
    });
    await untilStatus(webhook, 'delivered', 1);
    expect(await delivery(webhook)).toEqual({
      id: expect.any(Number),
      event_id: data.at(-1).id,
      type: 'sample.created',
      status: 'delivered',
      attempts: 1,
      next_attempt_at: null,
      response_status: 204,
      error: null,
      created_at: expect.any(String),
    });
    await remove(webhook);
  });

  it('receive the selected types, and no events from before their creation or while they were inactive', async () => {
    const [first, second] = [await api.samples.create(), await api.samples.create()];
    const change = ({ id }: { id: number }) => api.patch(`/v1/samples/${id}`, { counter: 1 });
    await change(second);
    const webhook = await create({ types: ['sample.updated'] });
    await api.samples.create();
    await change(first);
    await receiver.at(webhook.path, 1);
    await api.patch(`/v1/webhooks/${webhook['id']}`, { active: false }, staff);
    await change(first);
    await api.patch(`/v1/webhooks/${webhook['id']}`, { active: true }, staff);
    await change(second);

    const delivered = await receiver.at(webhook.path, 2);
    expect(delivered.map(({ body }) => JSON.parse(body).subject)).toEqual([
      `/v1/samples/${first.id}`,
      `/v1/samples/${second.id}`,
    ]);
    await remove(webhook);
  });

  it('receive a test event, and a redelivered event with the same id', async () => {
    const webhook = await create({ types: ['sample.deleted'] });
    const reply = await api.post(`/v1/webhooks/${webhook['id']}/test`, {}, staff);
    expect(reply).toHaveStatus(202);
    const [test] = await receiver.at(webhook.path, 1);
    expect(JSON.parse(test!.body)).toMatchObject({
      type: 'webhook.test',
      subject: `/v1/webhooks/${webhook['id']}`,
    });
    expect(new Webhook(webhook['secret']).verify(test!.body, test!.headers as any)).toBeTruthy();
    await untilStatus(webhook, 'delivered', 1);

    const { id } = await delivery(webhook);
    const again = await api.post(`/v1/webhooks/${webhook['id']}/deliveries/${id}/redeliver`, {}, staff);
    expect(again).toHaveStatus(202);
    const [, second] = await receiver.at(webhook.path, 2);
    expect(second!.headers['webhook-id']).toBe(test!.headers['webhook-id']);
    expect(second!.body).toBe(test!.body);
    await untilStatus(webhook, 'delivered', 1);
    expect(await api.post(`/v1/webhooks/${webhook['id']}/deliveries/999999/redeliver`, {}, staff)).toBeError(
      'NOT_FOUND',
    );
    await api.patch(`/v1/webhooks/${webhook['id']}`, { active: false }, staff);
    expect(await api.post(`/v1/webhooks/${webhook['id']}/test`, {}, staff)).toBeError('CONFLICT');
    await remove(webhook);
  });

  it('list their deliveries by status, by cursor', async () => {
    const webhook = await create({ types: ['sample.deleted'] });
    for (let n = 0; n < 3; n++) {
      await api.post(`/v1/webhooks/${webhook['id']}/test`, {}, staff);
      await untilStatus(webhook, 'delivered', 1);
    }
    receiver.behaviour = respond(410);
    await api.post(`/v1/webhooks/${webhook['id']}/test`, {}, staff);
    await untilStatus(webhook, 'failed', 1);
    const list = async (query: string) =>
      (await api.get(`/v1/webhooks/${webhook['id']}/deliveries?${query}`, staff)).body;

    const all = (await list('status=')).data;
    expect(all).toHaveLength(4);
    expect((await list('status=failed')).data).toEqual([all[0]]);
    const first = await list('status=delivered&limit=2');
    expect(first).toMatchObject({ data: [all[1], all[2]], has_next: true });
    const last = await list(`status=delivered&limit=2&cursor=${first.next_cursor}`);
    expect(last).toEqual({ data: [all[3]], has_next: false });
    for (const status of ['pending', 'Failed', 'x'])
      expect(await list(`status=${status}`)).toEqual({ data: [], has_next: false });
    receiver.behaviour = respond(204);
    await remove(webhook);
  });

  it('are signed with each secret for a day after a rotation, at most ten times a day', async () => {
    const webhook = await create({ types: ['sample.deleted'] });
    const rotate = () => api.post(`/v1/webhooks/${webhook['id']}/rotate-secret`, {}, staff);
    const secrets = [webhook['secret']];
    for (let n = 0; n < 2; n++) {
      const rotated = await rotate();
      expect(rotated).toHaveStatus(200);
      secrets.push(rotated.body.data.secret);
    }
    expect(new Set(secrets).size).toBe(3);
    const verifies = async (count: number) => {
      await api.post(`/v1/webhooks/${webhook['id']}/test`, {}, staff);
      const { body, headers } = (await receiver.at(webhook.path, count)).at(-1)!;
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
    staff = bearer((await api.accounts.login('staff@example.com')).access);
    secrets.push((await rotate()).body.data.secret);
    expect(await verifies(2)).toEqual([true, true, true, true]);
    api.moveClock(DAY + SECOND);
    staff = bearer((await api.accounts.login('staff@example.com')).access);
    expect(await verifies(3)).toEqual([false, false, true, true]);
    for (let n = 0; n < 9; n++) expect(await rotate()).toHaveStatus(200);
    expect(await rotate()).toBeError('CONFLICT');
    api.moveClock(0);
    staff = bearer((await api.accounts.login('staff@example.com')).access);
    await remove(webhook);
  });

  it('get different secrets from two concurrent rotations, and are signed with both', async () => {
    const webhook = await create({ types: ['sample.deleted'] });
    const rotate = () => api.post(`/v1/webhooks/${webhook['id']}/rotate-secret`, {}, staff);
    for (let round = 1; round <= 5; round++) {
      const secrets = (await Promise.all([rotate(), rotate()])).map(({ body }) => body.data.secret);
      expect(new Set(secrets).size).toBe(2);
      await api.post(`/v1/webhooks/${webhook['id']}/test`, {}, staff);
      const { body, headers } = (await receiver.at(webhook.path, round)).at(-1)!;
      for (const secret of secrets) expect(new Webhook(secret).verify(body, headers as any)).toBeTruthy();
    }
    await remove(webhook);
  });

  it('keep the result of a redelivery, not that of an earlier attempt that ends later', async () => {
    const webhook = await create({ types: ['sample.created'] });
    const late: ServerResponse[] = [];
    receiver.behaviour = (response, { path }) => {
      if (path === webhook.path && late.length === 0) late.push(response);
      else respond(204)(response, undefined as never);
    };
    await api.samples.create();
    await receiver.at(webhook.path, 1);
    const { id } = await delivery(webhook);
    const path = `/v1/webhooks/${webhook['id']}/deliveries/${id}/redeliver`;
    expect(await api.post(path, {}, staff)).toHaveStatus(202);
    await receiver.at(webhook.path, 2);
    await untilStatus(webhook, 'delivered', 1);

    await settled(() => late[0]!.writeHead(500).end());
    expect(await delivery(webhook)).toMatchObject({
      id,
      status: 'delivered',
      attempts: 1,
      response_status: 204,
      error: null,
    });
    // Otherwise one failure five days later would deactivate the webhook.
    expect(await failingSince(webhook)).toBeNull();
    expect(await receiver.at(webhook.path, 2)).toHaveLength(2);
    receiver.behaviour = respond(204);
    await remove(webhook);
  });

  it.each([
    ['410', 410],
    ['500', 500],
    ['204', 204],
  ])(
    'with a new URL ignore a late %s of the old one, and deliver the event to the new one',
    async (_, status) => {
      const webhook = await create({ types: ['sample.created'] });
      const late: ServerResponse[] = [];
      receiver.behaviour = (response, { path }) => {
        if (path === webhook.path) late.push(response);
        else respond(204)(response, undefined as never);
      };
      await api.samples.create();
      await receiver.at(webhook.path, 1);
      const path = `${webhook.path}-new`;
      const changed = await api.patch(
        `/v1/webhooks/${webhook['id']}`,
        { url: receiver.url + path, types: ['sample.created'] },
        staff,
      );
      expect(changed).toHaveStatus(200);

      await settled(() => late[0]!.writeHead(status).end());
      expect((await api.get(`/v1/webhooks/${webhook['id']}`, staff)).body.data.active).toBe(true);
      expect(await failingSince(webhook)).toBeNull();

      // The lease of the attempt expires.
      api.moveClock(31 * SECOND);
      const [delivered] = await receiver.at(path, 1);
      expect(delivered!.headers['webhook-id']).toBe((await delivery(webhook)).event_id);
      await untilStatus(webhook, 'delivered', 2);
      api.moveClock(0);
      receiver.behaviour = respond(204);
      await remove(webhook);
    },
  );

  it.each([
    ['deactivated', { active: false }],
    ['deactivated and activated again', { active: false }, { active: true }],
  ])('get no delivery that was claimed before the webhook was %s', async (_, ...changes) => {
    const webhook = await create({ types: ['sample.created'] });
    const queue = api.app.get(DeliveryQueue, { strict: false });
    const claim = queue.claim.bind(queue);
    const bodies = jest.spyOn(api.app.get(DeliveryBodies, { strict: false }), 'with');
    jest.spyOn(queue, 'claim').mockImplementation(async (...limits) => {
      const claimed = await claim(...limits);
      if (!claimed.some(({ webhookId }) => webhookId === webhook['id'])) return claimed;
      for (const change of changes) await api.patch(`/v1/webhooks/${webhook['id']}`, change, staff);
      return claimed;
    });
    await api.samples.create();

    await until('the attempt is over', () => hasResolved(bodies));
    expect(receiver.delivered.filter(({ path }) => path === webhook.path)).toEqual([]);
    expect(await delivery(webhook)).toMatchObject({ status: 'failed', error: 'The webhook was deactivated' });
    await remove(webhook);
  });

  /** Holds the transaction of one request until others are over, which came after it. */
  const during = async (path: string, change: object, others: () => Promise<unknown>) => {
    const transactions = api.app.get(Transactions);
    const run = transactions.run.bind(transactions);
    const spy = jest.spyOn(transactions, 'run').mockImplementation(async (work) => {
      if (currentContext()?.request.headers['x-held'] !== undefined) await others();
      return run(work);
    });
    const reply = await api.patch(path, change, { ...staff, 'x-held': '1' });
    spy.mockRestore();
    expect(reply).toHaveStatus(200);
  };

  it('get no event of the time in which they were inactive, when both changes come at once', async () => {
    const webhook = await create({ types: ['sample.created'] });
    const path = `/v1/webhooks/${webhook['id']}`;
    await during(path, { active: true }, async () => {
      expect(await api.patch(path, { active: false }, staff)).toHaveStatus(200);
      await api.samples.create({ text: 'While it is inactive' });
    });
    await api.samples.create({ text: 'Afterwards' });
    await untilStatus(webhook, 'delivered', 1);

    const texts = (await receiver.at(webhook.path, 1)).map(({ body }) => JSON.parse(body).data.text);
    expect(texts).toEqual(['Afterwards']);
    expect(await deliveries(webhook)).toHaveLength(1);
    await remove(webhook);
  });

  it('ignore a late result of another URL, when two changes of it come at once', async () => {
    const webhook = await create({ types: ['sample.created'] });
    const path = `/v1/webhooks/${webhook['id']}`;
    const late: ServerResponse[] = [];
    receiver.behaviour = (response, { path: at }) => {
      if (at === `${webhook.path}-new`) late.push(response);
      else respond(204)(response, undefined as never);
    };
    await during(path, { url: receiver.url + webhook.path }, async () => {
      const url = `${receiver.url}${webhook.path}-new`;
      expect(await api.patch(path, { url }, staff)).toHaveStatus(200);
      await api.samples.create();
      await receiver.at(`${webhook.path}-new`, 1);
    });
    await settled(() => late[0]!.writeHead(410).end());

    expect((await api.get(path, staff)).body.data).toMatchObject({
      active: true,
      url: receiver.url + webhook.path,
    });
    receiver.behaviour = respond(204);
    await remove(webhook);
  });

  it('are activated on the only connection of a process', async () => {
    const own = await startApi(store, { DATABASE_POOL_SIZE: '1' }, [FixtureModule]);
    const token = await staffOf(own);
    const url = `${receiver.url}/${++paths}`;
    const { id } = (await own.post('/v1/webhooks', { url, types: ['*'] }, token)).body.data;
    for (const active of [false, true]) {
      await own.samples.create();
      const reply = await own.patch(`/v1/webhooks/${id}`, { active }, token);
      expect(reply.body.data).toMatchObject({ active });
    }
    await own.stop();
  });

  it('get a pending delivery also after its event was purged', async () => {
    const own = await startApi(store, { EVENTS_RETENTION_DAYS: '1' }, [FixtureModule]);
    const token = await staffOf(own);
    const path = `/${++paths}`;
    const webhook = await own.post(
      '/v1/webhooks',
      { url: receiver.url + path, types: ['sample.created'] },
      token,
    );
    const read = () => `/v1/webhooks/${webhook.body.data.id}/deliveries`;
    receiver.behaviour = respond(500);
    const sample = await own.samples.create();
    const attempts = (count: number, status: string) =>
      until(`it is ${status} after ${count} attempts`, async () => {
        const later = bearer((await own.accounts.login('staff@example.com')).access);
        const [newest] = (await own.get(read(), later)).body.data;
        return newest?.attempts === count && newest.status === status;
      });
    await attempts(1, 'pending');
    own.moveClock(26 * HOUR);
    await attempts(2, 'pending');
    expect((await own.app.get(Purger, { strict: false }).purge()).get('events')).toBe(1);
    // The service was stopped for longer than deliveries are kept.
    own.moveClock(9 * DAY);
    await own.app.get(Purger, { strict: false }).purge();
    receiver.behaviour = respond(204);
    await attempts(3, 'delivered');

    const [first, second, third] = await receiver.at(path, 3);
    expect(JSON.parse(third!.body).data).toEqual(sample);
    expect([second!.body, third!.body]).toEqual([first!.body, first!.body]);

    // The event is kept as long as its delivery.
    const purged = async () => (await own.app.get(Purger, { strict: false }).purge()).get('webhook_events');
    expect(await purged()).toBe(0);
    own.moveClock(17 * DAY);
    await purged();
    expect(await purged()).toBe(1);
    await own.stop();
  });

  it('keep a delivery for seven days after it was redelivered', async () => {
    const own = await startApi(store, {}, [FixtureModule]);
    await staffOf(own);
    const path = `/${++paths}`;
    const login = async () => bearer((await own.accounts.login('staff@example.com')).access);
    const webhook = await own.post(
      '/v1/webhooks',
      { url: receiver.url + path, types: ['sample.created'] },
      await login(),
    );
    await own.samples.create();
    await receiver.at(path, 1);
    const list = async () =>
      (await own.get(`/v1/webhooks/${webhook.body.data.id}/deliveries`, await login())).body.data;
    await until('it is delivered', async () => (await list())[0]?.status === 'delivered');
    const [{ id }] = await list();

    own.moveClock(7 * DAY - MINUTE);
    const again = `/v1/webhooks/${webhook.body.data.id}/deliveries/${id}/redeliver`;
    expect(await own.post(again, {}, await login())).toHaveStatus(202);
    await receiver.at(path, 2);
    await until('it is delivered again', async () => (await list())[0]?.status === 'delivered');
    own.moveClock(13 * DAY);
    await own.app.get(Purger, { strict: false }).purge();
    expect(await list()).toMatchObject([{ id, status: 'delivered' }]);
    own.moveClock(15 * DAY);
    await own.app.get(Purger, { strict: false }).purge();
    expect(await list()).toEqual([]);
    await own.stop();
  });

  it('fail immediately for an event that has expired, which does not count as a failure of the receiver', async () => {
    const webhook = await create({ types: ['sample.created'] });
    await api.samples.create();
    await untilStatus(webhook, 'delivered', 1);
    const { id, event_id } = await delivery(webhook);
    const position = Number(event_id.split('-')[1]);
    await api.rows.execute('DELETE FROM events WHERE position = :position', { position });

    expect(
      await api.post(`/v1/webhooks/${webhook['id']}/deliveries/${id}/redeliver`, {}, staff),
    ).toHaveStatus(202);

    await untilStatus(webhook, 'failed', 1);
    expect(await delivery(webhook)).toMatchObject({ error: 'The event has expired', next_attempt_at: null });
    expect(await failingSince(webhook)).toBeNull();
    await remove(webhook);
  });

  it('are deactivated after 5 days in which every attempt failed, and a success restarts the 5 days', async () => {
    const moving = await startApi(store, {}, [FixtureModule]);
    const own = await staffOf(moving);
    const path = `/${++paths}`;
    const { body } = await moving.post(
      '/v1/webhooks',
      { url: receiver.url + path, types: ['sample.created'] },
      own,
    );
    // A new token for each day, because tokens expire when the clock moves.
    let token = own;
    const move = async (day: number) => {
      moving.moveClock(day * DAY);
      token = bearer((await moving.accounts.login('staff@example.com')).access);
    };
    const read = async (of = '') => (await moving.get(`/v1/webhooks/${body.data.id}${of}`, token)).body.data;
    /** Moves the clock to a day, creates an event, and waits until its first attempt is recorded. */
    const attempt = async (day: number, status: number) => {
      await move(day);
      receiver.behaviour = (response, { path: at }) =>
        respond(at === path ? status : 204)(response, undefined as never);
      await moving.samples.create();
      await until(`the attempt of day ${day} is recorded`, async () => {
        const [newest] = await read('/deliveries');
        return (
          newest?.response_status === status &&
          Date.parse(newest.created_at) > Date.now() + (day - 0.01) * DAY
        );
      });
    };

    await attempt(0, 500);
    await attempt(3, 204);
    await attempt(4, 500);
    await attempt(6, 500);
    await attempt(8.9, 500);
    expect((await read()).active).toBe(true);
    // The next attempt belongs to an earlier delivery.
    await move(9.1);
    await until('it is inactive', async () => !(await read()).active);

    const all: any[] = await read('/deliveries');
    expect(all.filter(({ status }) => status === 'pending')).toEqual([]);
    expect(all.filter(({ status }) => status === 'failed').length).toBeGreaterThanOrEqual(3);
    expect(all[0]).toMatchObject({ next_attempt_at: null, error: 'The webhook was deactivated' });
    receiver.behaviour = respond(204);
    await moving.stop();
  });

  it('are attempted again after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h and 20 h, then failed', async () => {
    const moving = await startApi(store, {}, [FixtureModule]);
    const own = await staffOf(moving);
    const path = `/${++paths}`;
    receiver.behaviour = (response, { path: at }) =>
      respond(at === path ? 500 : 204)(response, undefined as never);
    const { body } = await moving.post(
      '/v1/webhooks',
      { url: receiver.url + path, types: ['sample.created'] },
      own,
    );
    await moving.samples.create();
    let time = 0;
    const delays = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR];
    for (const [n, delay] of [...delays, undefined].entries()) {
      await receiver.at(path, n + 1);
      const headers = bearer((await moving.accounts.login('staff@example.com')).access);
      const read = async () =>
        (await moving.get(`/v1/webhooks/${body.data.id}/deliveries`, headers)).body.data[0];
      let row: any;
      const isSettled = (at: any) => at.response_status === 500 && at.attempts === n + 1;
      const isDue = (at: any) =>
        delay === undefined
          ? at.status === 'failed'
          : Date.parse(at.next_attempt_at) > Date.now() + time + delay / 2;
      await until(`attempt ${n + 1} is recorded`, async () => isSettled((row = await read())) && isDue(row));
      expect(row.error).toBe('The receiver responded with 500');
      expect(row.status).toBe(delay === undefined ? 'failed' : 'pending');
      if (delay === undefined) break;
      expect(Date.parse(row.next_attempt_at)).toBeLessThan(Date.now() + time + delay * 1.1 + MINUTE);
      time = Date.parse(row.next_attempt_at) - Date.now() + 50;
      moving.moveClock(time);
    }
    const attempts = receiver.delivered.filter((each) => each.path === path);
    expect(new Set(attempts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(attempts).toHaveLength(9);
    receiver.behaviour = respond(204);
    await moving.stop();
  });

  it('are deactivated by 410', async () => {
    const webhook = await create({ types: ['sample.created'] });
    receiver.behaviour = respond(410);
    await api.samples.create();
    await untilStatus(webhook, 'failed', 1);
    receiver.behaviour = respond(204);

    expect(await delivery(webhook)).toMatchObject({ response_status: 410, next_attempt_at: null });
    expect((await api.get(`/v1/webhooks/${webhook['id']}`, staff)).body.data.active).toBe(false);
    await remove(webhook);
  });

  it('do not follow redirects', async () => {
    const webhook = await create({ types: ['sample.created'] });
    receiver.behaviour = respond(307, { location: `${receiver.url}/elsewhere` });
    await api.samples.create();
    await until('the attempt is recorded', async () => (await delivery(webhook))?.response_status === 307);
    receiver.behaviour = respond(204);

    expect(await delivery(webhook)).toMatchObject({
      status: 'pending',
      error: 'The receiver responded with 307',
    });
    expect(receiver.delivered.filter(({ path }) => path === '/elsewhere')).toEqual([]);
    await api.patch(`/v1/webhooks/${webhook['id']}`, { active: false }, staff);
    expect(await delivery(webhook)).toMatchObject({ status: 'failed', next_attempt_at: null });
    await remove(webhook);
  });

  it('fail when the receiver switches protocols', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
      );
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const webhook = await create({ url: `http://127.0.0.1:${port}/` });

    await api.post(`/v1/webhooks/${webhook['id']}/test`, {}, staff);
    await until('the attempt has failed', async () => (await delivery(webhook)).response_status === 101);

    expect(await delivery(webhook)).toMatchObject({ status: 'pending', attempts: 1 });
    await remove(webhook);
    server.close();
  });

  it('succeed with any 2xx, and cut off a response that does not end', async () => {
    const webhook = await create({ types: ['sample.created'] });
    let isCut = false;
    receiver.behaviour = (response) => {
      response.writeHead(299);
      response.once('close', () => (isCut = true));
      const send = (): void => {
        if (!isCut) response.write('x'.repeat(16_384), () => setImmediate(send));
      };
      send();
    };
    await api.samples.create();
    await untilStatus(webhook, 'delivered', 1);
    await until('the response is cut off', () => isCut);
    expect(await delivery(webhook)).toMatchObject({ response_status: 299, error: null });
    receiver.behaviour = respond(204);
    await remove(webhook);
  });

  it('cut off a response of which nothing more comes, long before an attempt without a response', async () => {
    const silent = await create({ types: ['sample.created'] });
    const ended: string[] = [];
    receiver.behaviour = (response, { path }) => {
      response.once('close', () => ended.push(path));
      if (path !== silent.path) response.writeHead(200).flushHeaders();
    };
    await api.samples.create();
    await receiver.at(silent.path, 1);
    const stalled = await create({ types: ['sample.created'] });
    await api.samples.create();

    await until('an attempt has ended', () => ended.length > 0);
    expect(ended).toEqual([stalled.path]);
    receiver.behaviour = respond(204);
    await untilStatus(stalled, 'delivered', 1);
    for (const webhook of [silent, stalled]) await remove(webhook);
  });

  it('that get no response do not delay others', async () => {
    const hanging: Record<string, any>[] = [];
    const responding: { path: string }[] = [];
    for (let n = 0; n < 20; n++) {
      hanging.push(await create({ types: ['sample.updated'], url: `${receiver.url}/hanging` }));
      responding.push(await create({ types: ['sample.updated'] }));
    }
    receiver.behaviour = (response, { path }) => {
      // Requests to this path get no response.
      if (path !== '/hanging') respond(204)(response, undefined as never);
    };
    const { id } = await api.samples.create();
    for (let n = 0; n < 20; n++) await api.patch(`/v1/samples/${id}`, { counter: n });

    for (const { path } of responding) await receiver.at(path, 20);
    const states = await deliveries(hanging[0]!);
    expect(states.filter(({ status }) => status === 'delivered')).toEqual([]);
    receiver.behaviour = respond(204);
    for (const webhook of [...hanging, ...responding]) await remove(webhook);
  });

  it('get one attempt at a time while they fail, and several again after a success', async () => {
    const failing = await create({ types: ['sample.created'] });
    const other = await create({ types: ['sample.created'] });
    receiver.behaviour = (response, { path }) =>
      respond(path === failing.path ? 500 : 204)(response, undefined as never);
    await api.samples.create();
    await until('the first attempt has failed', async () => (await failingSince(failing)) !== null);
    const waiting: ServerResponse[] = [];
    receiver.behaviour = (response, { path }) => {
      if (path === failing.path) waiting.push(response);
      else respond(204)(response, undefined as never);
    };

    for (let n = 0; n < 6; n++) await api.samples.create();
    // Each time that one of these was claimed, an attempt of the failing webhook could have been, too.
    await receiver.at(other.path, 7);
    expect(waiting).toHaveLength(1);
    waiting[0]!.writeHead(204).end();
    await until('four attempts are in progress', async () => waiting.length === 5);
    receiver.behaviour = respond(204);
    for (const response of waiting.slice(1)) response.writeHead(204).end();
    await receiver.at(failing.path, 7);
    for (const webhook of [failing, other]) await remove(webhook);
  });

  it('are limited to 100', async () => {
    const { total } = (await api.get('/v1/webhooks', staff)).body.meta;
    const createAnother = () => api.post('/v1/webhooks', { url: receiver.url, types: ['*'] }, staff);
    const made = [];
    for (let n = total; n < 90; n++) made.push(await createAnother());
    // Each waits for a lock, so more concurrent requests could time out.
    made.push(...(await Promise.all(Array.from({ length: 15 }, createAnother))));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(100 - total);
    for (const reply of made.filter(({ status }) => status !== 201)) expect(reply).toBeError('CONFLICT');
    for (const { body, status } of made) if (status === 201) await remove(body.data);
  });
});

describe.each(STORES)('Webhooks without access to private addresses on %s', (store) => {
  it.each([
    ['a literal address', (port: number) => `http://127.0.0.1:${port}/`],
    ['a name that resolves to one', (port: number) => `http://localhost:${port}/`],
    ['IPv4 within IPv6', (port: number) => `http://[::ffff:127.0.0.1]:${port}/`],
    ['an address in another notation', (port: number) => `http://0x7f.1:${port}/`],
  ])('send nothing to %s', async (_, urlOf) => {
    const receiver = await Receiver.start();
    const api = await startApi(store, { WEBHOOKS_ALLOW_PRIVATE: 'off' }, [FixtureModule]);
    const staff = await staffOf(api);
    const { body } = await api.post('/v1/webhooks', { url: urlOf(receiver.port), types: ['*'] }, staff);
    await api.samples.create();
    let newest: any;
    await until('the attempt is recorded', async () => {
      [newest] = (await api.get(`/v1/webhooks/${body.data.id}/deliveries`, staff)).body.data;
      return newest?.error != null;
    });

    expect(newest).toMatchObject({ response_status: null, error: expect.stringContaining('not public') });
    expect(receiver.delivered).toEqual([]);
    await api.stop();
    await receiver.stop();
  });
});

describe('A receiver that never responds', () => {
  it('has 10 seconds for an attempt', async () => {
    const receiver = await Receiver.start();
    receiver.behaviour = () => undefined;
    const attempts = STORES.map(async (store) => {
      const api = await startApi(store, {}, [FixtureModule]);
      const staff = await staffOf(api);
      const { body } = await api.post('/v1/webhooks', { url: receiver.url, types: ['*'] }, staff);
      await api.samples.create();
      let newest: any;
      await until('the attempt has failed', async () => {
        [newest] = (await api.get(`/v1/webhooks/${body.data.id}/deliveries`, staff)).body.data;
        return newest?.error != null;
      });
      await api.stop();
      return newest;
    });

    for (const attempt of await Promise.all(attempts)) {
      expect(attempt).toMatchObject({
        status: 'pending',
        attempts: 1,
        response_status: null,
        error: 'There was no response within 10 seconds',
      });
    }
    await receiver.stop();
  });
});

describe('On two replicas', () => {
  it('each event is delivered once, and one replica takes over when the other stops', async () => {
    const receiver = await Receiver.start();
    const store = await createStore('PostgreSQL');
    const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...store.environment });
    const modules = [FixtureModule];
    const apps = [await createApp(config, { modules }), await createApp(config, { modules })];
    const [first, second] = apps.map((app) => new TestApi(app, config, async () => undefined)) as [
      TestApi,
      TestApi,
    ];
    const staff = await staffOf(first);
    await first.post('/v1/webhooks', { url: `${receiver.url}/`, types: ['sample.created'] }, staff);
    await Promise.all(Array.from({ length: 60 }, (_, n) => [first, second][n % 2]!.samples.create()));
    await receiver.at('/', 60);
    await first.stop();
    await Promise.all(Array.from({ length: 20 }, () => second.samples.create()));
    const delivered = await receiver.at('/', 80);

    const ids = delivered.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(80);
    expect(ids).toHaveLength(80);
    await second.stop();
    await store.remove();
    await receiver.stop();
  });
});

describe('On PostgreSQL', () => {
  it('the end of an attempt and a change of its webhook cannot wait for each other', async () => {
    const api = await startApi('PostgreSQL', {}, [FixtureModule]);
    const staff = await staffOf(api);
    const url = 'http://127.0.0.1:9/';
    const { body } = await api.post('/v1/webhooks', { url, types: ['sample.created'] }, staff);
    const { id: webhookId } = body.data;
    const change = new Client((api.config.store as PostgresStore).url);
    await change.connect();
    await change.query('UPDATE webhooks SET failing_since = now()');
    const { rows } = await change.query<{ id: number }>(
      `INSERT INTO webhook_deliveries
         (webhook_id, event_id, type, status, attempts, next_attempt_at, created_at, expires_at)
       VALUES ($1, 'e', 'sample.created', 'pending', 1, now() + interval '1 hour', now(), now() + interval '1 hour')
       RETURNING id::int AS id`,
      [webhookId],
    );
    const attempt = {
      id: rows[0]!.id,
      webhookId,
      eventId: 'e',
      position: null,
      body: null,
      attempts: 1,
      fence: 0,
    };
    // As `PATCH` does: the webhook, then its deliveries. A deadlock would end this transaction.
    await change.query(`SET deadlock_timeout = '50ms'; BEGIN`);
    await change.query('UPDATE webhooks SET active = false');
    const settled = api.app.get(DeliveryQueue).settle(attempt, { status: 200, error: null });
    await untilBlocked(api, 'PostgreSQL');
    await change.query(`UPDATE webhook_deliveries SET status = 'failed' WHERE status = 'pending'`);
    await change.query('COMMIT');
    await settled;

    const deliveries = await api.get(`/v1/webhooks/${webhookId}/deliveries`, staff);
    expect(deliveries.body.data).toMatchObject([{ status: 'failed' }]);
    await change.end();
    await api.stop();
  });
});
