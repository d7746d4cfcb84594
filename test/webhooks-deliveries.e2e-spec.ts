import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { Webhook } from 'standardwebhooks';
import type { PostgresStore } from '../src/platform/config/config.js';
import { Purger } from '../src/platform/jobs/purger.js';
import { currentContext } from '../src/platform/http/request-context.js';
import { Transactions } from '../src/platform/database/transactions.js';
import { DeliveryBodies } from '../src/webhooks/delivery-bodies.js';
import { DeliveryQueue } from '../src/webhooks/delivery-queue.js';
import { startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { type Delivered, Receiver, respond } from './support/receiver.js';
import { isOrdered, shuffle } from './support/shuffle.js';
import { until } from './support/until.js';
import { untilBlocked } from './support/until-blocked.js';
import { pathOf, Webhooks } from './support/webhooks.js';

const SECOND = 1000;
const HOUR = 60 * 60 * SECOND;
const DAY = 24 * HOUR;

const eventIdOf = ({ headers }: Delivered): string => String(headers['webhook-id']);
const positionOf = (eventId: string): number => Number(eventId.split('-')[1]);

/** Whether a call of a spied method has been successful. */
const hasResolved = ({ mock }: { mock: { results: { value: unknown }[] } }): Promise<boolean> =>
  Promise.any(mock.results.map(({ value }) => value)).then(
    () => true,
    () => false,
  );

const servers = { receiver: () => new Receiver() };
onEach('Deliveries of webhooks', { modules: [FixtureModule], servers }, ({ api, receiver, store }) => {
  let webhooks: Webhooks;
  beforeAll(async () => {
    webhooks = await Webhooks.of(api, receiver);
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    api.resetClock();
    receiver.behaviour = respond(204);
    await webhooks.removeAll();
  });

  /** Ends an attempt, and waits until its result is recorded or ignored. */
  const settled = async (end: () => void): Promise<void> => {
    const settle = jest.spyOn(api.app.get(DeliveryQueue, { strict: false }), 'settle');
    end();
    await until('the result is processed', () => hasResolved(settle));
    settle.mockRestore();
  };

  it('are verified by the official library', async () => {
    const webhook = await webhooks.create({ types: ['*'] });
    const dummy = await api.dummies.create({ text: 'Ünï 😀' });
    const [delivered] = await receiver.at(webhook.path, 1);

    const verified = new Webhook(webhook.secret).verify(delivered!.body, delivered!.headers as any);
    const event = (await api.get('/v1/events?types=dummy.created&limit=100')).body.data.at(-1);
    expect(verified).toEqual(event);
    expect(event.data).toEqual(dummy);
    expect(delivered!.headers).toMatchObject({
      'webhook-id': event.id,
      'content-type': 'application/json; charset=utf-8',
    });
    expect(await webhooks.untilStatus(webhook, 'delivered', 1)).toEqual({
      id: expect.any(Number),
      event_id: event.id,
      type: 'dummy.created',
      status: 'delivered',
      attempts: 1,
      next_attempt_at: null,
      response_status: 204,
      error: null,
      created_at: expect.any(String),
    });
  });

  it('are listed with the newest first, and attempted with the oldest first', async () => {
    const [, webhook] = [await webhooks.create(), await webhooks.create(), await webhooks.create()];
    receiver.respondAt(webhook.path, 500);
    for (let n = 0; n < 8; n++) await api.dummies.create();
    const events = (await receiver.at(webhook.path, 8)).slice(0, 8).map(eventIdOf);
    await until('all attempts have failed', async () => {
      const listed = await webhooks.deliveries(webhook);
      return listed.every(({ response_status }) => response_status === 500);
    });
    // The next attempts are due together, and are made one at a time, because the webhook fails.
    await api.rows.execute('UPDATE webhook_deliveries SET next_attempt_at = :due', {
      due: new Date(api.now.getTime() + HOUR).toISOString(),
    });
    for (const table of ['webhooks', 'webhook_deliveries']) await shuffle(api, table);
    expect(isOrdered(await webhooks.deliveries(webhook), 'descending')).toBe(true);
    expect(isOrdered(await webhooks.deliveries(webhook, '?status=pending'), 'descending')).toBe(true);
    const { data } = (await api.get('/v1/webhooks', webhooks.staff)).body;
    expect(isOrdered(data, 'ascending')).toBe(true);

    // On a slow machine, some were attempted twice before.
    const before = (await receiver.at(webhook.path, 8)).length;
    api.advanceClock(HOUR + SECOND);
    const again = (await receiver.at(webhook.path, before + 8)).slice(before).map(eventIdOf);
    expect(again).toEqual(events.toSorted((a, b) => positionOf(a) - positionOf(b)));
  });

  it('have the selected types only, and no event from before the creation or while the webhook was inactive', async () => {
    const [first, second] = [await api.dummies.create(), await api.dummies.create()];
    const change = ({ id }: { id: number }) => api.patch(`/v1/dummies/${id}`, { counter: 1 });
    await change(second);
    const webhook = await webhooks.create({ types: ['dummy.updated'] });
    const ofAll = await webhooks.create({ types: ['*'] });
    await api.dummies.create();
    await change(first);
    await receiver.at(webhook.path, 1);
    await webhooks.change(webhook, { active: false });
    await change(first);
    await webhooks.change(webhook, { active: true });
    await change(second);

    const delivered = await receiver.at(webhook.path, 2);
    expect(delivered.map(({ body }) => JSON.parse(body).subject)).toEqual([
      `/v1/dummies/${first.id}`,
      `/v1/dummies/${second.id}`,
    ]);
    await api.delete(`/v1/dummies/${first.id}`);
    const types = (await receiver.at(ofAll.path, 5)).map(({ body }) => JSON.parse(body).type as string);
    expect(new Set(types)).toEqual(new Set(['dummy.created', 'dummy.updated', 'dummy.deleted']));
  });

  it('keep the result of a redelivery, not that of an earlier attempt that ends later', async () => {
    const webhook = await webhooks.create();
    const late = receiver.hold(webhook.path);
    await api.dummies.create();
    await receiver.at(webhook.path, 1);
    receiver.behaviour = respond(204);
    const [{ id }] = await webhooks.deliveries(webhook);
    expect(await webhooks.redeliver(webhook, id)).toHaveStatus(202);
    await receiver.at(webhook.path, 2);
    await webhooks.untilStatus(webhook, 'delivered', 1);

    await settled(() => late[0]!.writeHead(500).end());
    expect(await webhooks.deliveries(webhook)).toMatchObject([
      { id, status: 'delivered', attempts: 1, response_status: 204, error: null },
    ]);
    // Otherwise one failure five days later would deactivate the webhook.
    expect(await webhooks.failingSince(webhook)).toBeNull();
    expect(await receiver.at(webhook.path, 2)).toHaveLength(2);
  });

  it('are sent again if the earlier attempt ends before the redelivery begins', async () => {
    const webhook = await webhooks.create();
    // The most attempts at a time: the redelivery waits for the end of one.
    const late = receiver.hold(webhook.path);
    for (let n = 0; n < 4; n++) await api.dummies.create();
    const first = eventIdOf((await receiver.at(webhook.path, 4))[0]!);
    const delivery = (await webhooks.deliveries(webhook)).find(({ event_id }) => event_id === first);
    expect(await webhooks.redeliver(webhook, delivery.id)).toHaveStatus(202);

    await settled(() => late[0]!.writeHead(204).end());
    expect(eventIdOf((await receiver.at(webhook.path, 5))[4]!)).toBe(first);
    for (const response of late.slice(1)) response.writeHead(204).end();
  });

  it('are added with the position of their subscriber, or not at all', async () => {
    const webhook = await webhooks.create();
    const failures = `SELECT attempts FROM event_subscribers WHERE name = 'webhooks'`;
    await api.rows.execute('ALTER TABLE webhook_deliveries RENAME TO gone');
    await api.dummies.create();
    await until(
      'it has failed',
      async () => (await api.rows.one<{ attempts: number }>(failures))!.attempts > 0,
    );
    await api.rows.execute('ALTER TABLE gone RENAME TO webhook_deliveries');
    api.moveClock(HOUR);

    expect(await receiver.at(webhook.path, 1)).toHaveLength(1);
  });

  it.each([410, 500, 204])(
    'ignore a late %d of an earlier URL, and bring the event to the new URL',
    async (status) => {
      const webhook = await webhooks.create();
      const late = receiver.hold(webhook.path);
      await api.dummies.create();
      await receiver.at(webhook.path, 1);
      const path = `${webhook.path}-new`;
      const changes = { url: receiver.url + path, types: ['dummy.created'] };
      expect(await webhooks.change(webhook, changes)).toHaveStatus(200);

      await settled(() => late[0]!.writeHead(status).end());
      expect((await webhooks.read(webhook)).active).toBe(true);
      expect(await webhooks.failingSince(webhook)).toBeNull();

      // The lease of the attempt expires.
      api.moveClock(31 * SECOND);
      const [delivered] = await receiver.at(path, 1);
      // The result that was ignored does not count.
      const { event_id } = await webhooks.untilStatus(webhook, 'delivered', 1);
      expect(delivered!.headers['webhook-id']).toBe(event_id);
    },
  );

  it.each([
    ['deactivated', [{ active: false }]],
    ['deactivated and activated again', [{ active: false }, { active: true }]],
  ])('are not sent if they were claimed before the webhook was %s', async (_, changes) => {
    const webhook = await webhooks.create();
    const queue = api.app.get(DeliveryQueue, { strict: false });
    const claim = queue.claim.bind(queue);
    const bodies = jest.spyOn(api.app.get(DeliveryBodies, { strict: false }), 'with');
    jest.spyOn(queue, 'claim').mockImplementation(async (...limits) => {
      const claimed = await claim(...limits);
      if (!claimed.some(({ webhookId }) => webhookId === webhook.id)) return claimed;
      for (const change of changes) await webhooks.change(webhook, change);
      return claimed;
    });
    await api.dummies.create();

    await until('the attempt is over', () => hasResolved(bodies));
    expect(receiver.delivered.filter(({ path }) => path === webhook.path)).toEqual([]);
    expect(await webhooks.deliveries(webhook)).toMatchObject([
      { status: 'failed', error: 'The webhook was deactivated' },
    ]);
  });

  /** Holds the transaction of one change until others are over, which came after it. */
  const during = async (path: string, change: object, others: () => Promise<unknown>) => {
    const transactions = api.app.get(Transactions);
    const run = transactions.run.bind(transactions);
    const spy = jest.spyOn(transactions, 'run').mockImplementation(async (work) => {
      if (currentContext()?.request.headers['x-held'] !== undefined) await others();
      return run(work);
    });
    const reply = await api.patch(path, change, { ...webhooks.staff, 'x-held': '1' });
    spy.mockRestore();
    expect(reply).toHaveStatus(200);
  };

  it('have no event from while the webhook was inactive, when both changes come at once', async () => {
    const webhook = await webhooks.create();
    await during(pathOf(webhook), { active: true }, async () => {
      expect(await webhooks.change(webhook, { active: false })).toHaveStatus(200);
      await api.dummies.create({ text: 'While it is inactive' });
    });
    api.wakeJobs();
    await api.dummies.create({ text: 'Afterwards' });
    await webhooks.untilStatus(webhook, 'delivered', 1);

    const texts = (await receiver.at(webhook.path, 1)).map(({ body }) => JSON.parse(body).data.text);
    expect(texts).toEqual(['Afterwards']);
    expect(await webhooks.deliveries(webhook)).toHaveLength(1);
  });

  it('ignore a late result of another URL, when two changes of the URL come at once', async () => {
    const webhook = await webhooks.create();
    const [url, path] = [receiver.url + webhook.path, `${webhook.path}-new`];
    const late = receiver.hold(path);
    await during(pathOf(webhook), { url }, async () => {
      expect(await webhooks.change(webhook, { url: receiver.url + path })).toHaveStatus(200);
      await api.dummies.create();
      await receiver.at(path, 1);
    });
    await settled(() => late[0]!.writeHead(410).end());

    expect(await webhooks.read(webhook)).toMatchObject({ active: true, url });
  });

  it('share the only connection of a process with changes of their webhook', async () => {
    const own = await startApi(store, { DATABASE_POOL_SIZE: '1' }, [FixtureModule]);
    const ownWebhooks = await Webhooks.of(own, receiver);
    const webhook = await ownWebhooks.create();
    for (const active of [false, true]) {
      await own.dummies.create();
      const { data } = (await ownWebhooks.change(webhook, { active })).body;
      expect(data).toMatchObject({ active });
    }
    const { id } = await own.dummies.create();
    await until('the last event has arrived', () =>
      receiver.delivered.some(({ path, body }) => path === webhook.path && JSON.parse(body).data.id === id),
    );
    await own.stop();
  });

  it('are made after the purge of their event, of which a copy is kept as long as they are', async () => {
    const own = await startApi(store, { EVENTS_RETENTION_DAYS: '1' }, [FixtureModule]);
    const ownWebhooks = await Webhooks.of(own, receiver);
    const ownPurge = () => own.app.get(Purger, { strict: false }).purge();
    const webhook = await ownWebhooks.create();
    receiver.behaviour = respond(500);
    const start = Date.now();
    own.stopClock(start);
    const dummy = await own.dummies.create();
    await ownWebhooks.untilNewest(webhook, 'has failed once', (newest) => newest.response_status === 500);
    own.stopClock(start + 26 * HOUR);
    // Until the result is recorded, the next attempt would come when the lease of this one ends, after half a minute.
    const isRecorded = (newest: any) =>
      newest.attempts === 2 && Date.parse(newest.next_attempt_at) > start + 26 * HOUR + 60 * SECOND;
    await ownWebhooks.untilNewest(webhook, 'has failed twice', isRecorded);
    expect((await ownPurge()).get('events')).toBe(1);
    // The service was stopped for longer than deliveries are kept; an attempt may begin before the purge.
    const open = receiver.hold(webhook.path);
    own.moveClock(9 * DAY);
    await ownPurge();
    receiver.behaviour = respond(204);
    for (const response of open) response.writeHead(204).end();
    await ownWebhooks.untilStatus(webhook, 'delivered', 3);

    const [first, second, third] = await receiver.at(webhook.path, 3);
    expect(JSON.parse(third!.body).data).toEqual(dummy);
    expect([second!.body, third!.body]).toEqual([first!.body, first!.body]);

    // The purge deletes the copy after its delivery is gone.
    expect((await ownPurge()).get('webhook_events')).toBe(0);
    own.moveClock(17 * DAY);
    await ownPurge();
    expect((await ownPurge()).get('webhook_events')).toBe(1);
    await own.stop();
  });

  it('are kept for seven days after a redelivery', async () => {
    const own = await startApi(store, {}, [FixtureModule]);
    const ownWebhooks = await Webhooks.of(own, receiver);
    const purgeAt = (time: number) => {
      own.moveClock(time);
      return own.app.get(Purger, { strict: false }).purge();
    };
    const webhook = await ownWebhooks.create();
    await own.dummies.create();
    const { id } = await ownWebhooks.untilStatus(webhook, 'delivered', 1);

    own.moveClock(7 * DAY - 60 * SECOND);
    expect(await ownWebhooks.redeliver(webhook, id)).toHaveStatus(202);
    await receiver.at(webhook.path, 2);
    await ownWebhooks.untilStatus(webhook, 'delivered', 1);
    await purgeAt(13 * DAY);
    expect(await ownWebhooks.deliveries(webhook)).toMatchObject([{ id, status: 'delivered' }]);
    await purgeAt(15 * DAY);
    expect(await ownWebhooks.deliveries(webhook)).toEqual([]);
    await own.stop();
  });

  it('fail immediately for an event that has expired, which does not count as a failure of the receiver', async () => {
    const webhook = await webhooks.create();
    await api.dummies.create();
    const { id, event_id } = await webhooks.untilStatus(webhook, 'delivered', 1);
    const position = Number(event_id.split('-')[1]);
    await api.rows.execute('DELETE FROM events WHERE position = :position', { position });

    expect(await webhooks.redeliver(webhook, id)).toHaveStatus(202);

    expect(await webhooks.untilStatus(webhook, 'failed', 1)).toMatchObject({
      error: 'The event has expired',
      next_attempt_at: null,
    });
    expect(await webhooks.failingSince(webhook)).toBeNull();
  });
});

describe('Deliveries of two replicas', () => {
  it('are made once, also after one of the replicas has stopped', async () => {
    const receiver = await new Receiver().start();
    const second = await startApi('PostgreSQL', {}, [FixtureModule]);
    const first = await second.replica();
    const { path } = await (await Webhooks.of(first, receiver)).create();
    await Promise.all(Array.from({ length: 60 }, (_, n) => [first, second][n % 2]!.dummies.create()));
    await receiver.at(path, 60);
    await first.stop();
    await Promise.all(Array.from({ length: 20 }, () => second.dummies.create()));
    const delivered = await receiver.at(path, 80);

    const ids = delivered.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(80);
    expect(ids).toHaveLength(80);
    await second.stop();
    await receiver.stop();
  });
});

describe('On PostgreSQL', () => {
  it('the end of an attempt and a change of its webhook cannot wait for each other', async () => {
    const api = await startApi('PostgreSQL', {}, [FixtureModule]);
    const receiver = await new Receiver().start();
    const webhooks = await Webhooks.of(api, receiver);
    const webhook = await webhooks.create();
    const change = new Client((api.config.store as PostgresStore).url);
    await change.connect();
    await change.query('UPDATE webhooks SET failing_since = now()');
    const { rows } = await change.query<{ id: number }>(
      `INSERT INTO webhook_deliveries
         (webhook_id, event_id, type, status, attempts, next_attempt_at, created_at, expires_at)
       VALUES ($1, 'e', 'dummy.created', 'pending', 1, now() + interval '1 hour', now(), now() + interval '1 hour')
       RETURNING id::int AS id`,
      [webhook.id],
    );
    const attempt = {
      id: rows[0]!.id,
      webhookId: webhook.id,
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

    expect(await webhooks.deliveries(webhook)).toMatchObject([{ status: 'failed' }]);
    await change.end();
    await api.stop();
    await receiver.stop();
  });
});
