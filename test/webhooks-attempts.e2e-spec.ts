import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { Queries } from '../src/platform/database/queries.js';
import { DeliveryQueue } from '../src/webhooks/delivery-queue.js';
import { WebhookSender } from '../src/webhooks/webhook-sender.js';
import { startApi } from './support/api.js';
import { patiently } from './support/concurrent.js';
import { FixtureModule } from './support/fixture.module.js';
import { freePort } from './support/free-port.js';
import { onEach } from './support/on-each.js';
import { Receiver, respond } from './support/receiver.js';
import { until } from './support/until.js';
import { type TestWebhook, Webhooks } from './support/webhooks.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const servers = { receiver: () => new Receiver() };
onEach('Attempts of deliveries', { modules: [FixtureModule], servers }, ({ api, receiver, store }) => {
  let webhooks: Webhooks;
  beforeAll(async () => {
    webhooks = await Webhooks.of(api, receiver);
  });
  afterEach(async () => {
    receiver.behaviour = respond(204);
    await webhooks.removeAll();
  });

  it('follow after 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 14 h and 20 h, until the delivery has failed', async () => {
    const own = await startApi(store, {}, [FixtureModule]);
    const ownWebhooks = await Webhooks.of(own, receiver);
    const webhook = await ownWebhooks.create();
    receiver.respondAt(webhook.path, 500);
    let now = Date.now();
    own.stopClock(now);
    await own.dummies.create();
    const delays = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR];
    for (const [n, delay] of delays.entries()) {
      await receiver.at(webhook.path, n + 1);
      const row = await ownWebhooks.untilNewest(
        webhook,
        `waits for another attempt after ${n + 1}`,
        (newest) => {
          const isRecorded = newest.response_status === 500 && newest.attempts === n + 1;
          return isRecorded && Date.parse(newest.next_attempt_at) > now + delay / 2;
        },
      );
      expect(row).toMatchObject({ status: 'pending', error: 'The receiver responded with 500' });
      const next = Date.parse(row.next_attempt_at);
      expect(next).toBeGreaterThanOrEqual(now + delay);
      expect(next).toBeLessThanOrEqual(now + delay * 1.1);
      now = next;
      own.stopClock(now);
    }
    expect(await ownWebhooks.untilStatus(webhook, 'failed', 9)).toMatchObject({
      response_status: 500,
      error: 'The receiver responded with 500',
    });
    const attempts = await receiver.at(webhook.path, 9);
    expect(new Set(attempts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(attempts).toHaveLength(9);
    await own.stop();
  });

  it('deactivate the webhook after 5 days of failures; a success restarts the 5 days', async () => {
    const own = await startApi(store, {}, [FixtureModule]);
    const ownWebhooks = await Webhooks.of(own, receiver);
    const webhook = await ownWebhooks.create();
    /** Moves the clock to a day, creates an event, and waits until its first attempt is recorded. */
    const attempt = async (day: number, status: number) => {
      own.moveClock(day * DAY);
      receiver.respondAt(webhook.path, status);
      await own.dummies.create();
      await ownWebhooks.untilNewest(webhook, `of day ${day} is attempted`, (newest) => {
        const isOfDay = Date.parse(newest.created_at) > Date.now() + (day - 0.01) * DAY;
        return isOfDay && newest.response_status === status;
      });
    };

    await attempt(0, 500);
    await attempt(3, 204);
    await attempt(4, 500);
    await attempt(6, 500);
    await attempt(8.9, 500);
    expect((await ownWebhooks.read(webhook)).active).toBe(true);
    // The next attempt belongs to an earlier delivery.
    own.moveClock(9.1 * DAY);
    await until('it is inactive', async () => !(await ownWebhooks.read(webhook)).active);

    const all = await ownWebhooks.deliveries(webhook);
    expect(all.filter(({ status }) => status === 'pending')).toEqual([]);
    expect(all.filter(({ status }) => status === 'failed').length).toBeGreaterThanOrEqual(3);
    expect(all[0]).toMatchObject({ next_attempt_at: null, error: 'The webhook was deactivated' });
    await own.stop();
  });

  it('deactivate the webhook after a 410', async () => {
    const webhook = await webhooks.create();
    receiver.behaviour = respond(410);
    await api.dummies.create();

    expect(await webhooks.untilStatus(webhook, 'failed', 1)).toMatchObject({
      response_status: 410,
      next_attempt_at: null,
    });
    expect((await webhooks.read(webhook)).active).toBe(false);
    expect(await webhooks.failingSince(webhook)).not.toBeNull();
    await webhooks.change(webhook, { active: true });
    expect(await webhooks.failingSince(webhook)).toBeNull();
  });

  it('of a new URL have five days of their own', async () => {
    const webhook = await webhooks.create();
    receiver.behaviour = respond(500);
    const failAt = async (day: number) => {
      api.moveClock(day * DAY);
      await api.dummies.create();
      await webhooks.untilNewest(webhook, `of day ${day} is attempted`, (newest) => {
        const isOfDay = Date.parse(newest.created_at) > Date.now() + (day - 0.01) * DAY;
        return isOfDay && newest.response_status === 500;
      });
    };
    await failAt(0);
    await failAt(4);
    const changed = await webhooks.change(webhook, { url: `${receiver.url}${webhook.path}-new` });
    expect(changed).toHaveStatus(200);
    await failAt(4.1);
    await failAt(6);
    expect((await webhooks.read(webhook)).active).toBe(true);

    api.moveClock(9.2 * DAY);
    await until('it is inactive', async () => !(await webhooks.read(webhook)).active);
  });

  it('do not follow redirects', async () => {
    const webhook = await webhooks.create();
    receiver.behaviour = respond(307, { location: `${receiver.url}/elsewhere` });
    await api.dummies.create();
    const delivery = await webhooks.untilNewest(
      webhook,
      'got 307',
      (newest) => newest.response_status === 307,
    );
    receiver.behaviour = respond(204);

    expect(delivery).toMatchObject({ status: 'pending', error: 'The receiver responded with 307' });
    expect(receiver.delivered.filter(({ path }) => path === '/elsewhere')).toEqual([]);
    await webhooks.change(webhook, { active: false });
    expect(await webhooks.deliveries(webhook)).toMatchObject([{ status: 'failed', next_attempt_at: null }]);
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
    const webhook = await webhooks.create({ url: `http://127.0.0.1:${port}/` });

    await webhooks.sendTest(webhook);

    expect(
      await webhooks.untilNewest(webhook, 'got 101', (newest) => newest.response_status === 101),
    ).toMatchObject({ status: 'pending', attempts: 1 });
    server.close();
  });

  it('succeed with any 2xx, and cut off a response that does not end', async () => {
    const webhook = await webhooks.create();
    let isCut = false;
    let sent = 0;
    receiver.behaviour = (response) => {
      response.writeHead(299);
      response.once('close', () => (isCut = true));
      const send = (): void => {
        sent += 16_384;
        if (!isCut) response.write('x'.repeat(16_384), () => setImmediate(send));
      };
      send();
    };
    await api.dummies.create();
    const delivery = await webhooks.untilStatus(webhook, 'delivered', 1);
    await until('the response is cut off', () => isCut);
    // After 64 KiB, and what the sockets of both sides hold: not when its time is over.
    expect(sent).toBeLessThan(16 * 1024 * 1024);
    expect(delivery).toMatchObject({ response_status: 299, error: null });
  });

  it('cut off a response of which nothing more comes, long before an attempt without a response', async () => {
    const silent = await webhooks.create();
    const ended: string[] = [];
    receiver.behaviour = (response, { path }) => {
      response.once('close', () => ended.push(path));
      if (path !== silent.path) response.writeHead(200).flushHeaders();
    };
    await api.dummies.create();
    await receiver.at(silent.path, 1);
    const stalled = await webhooks.create();
    await api.dummies.create();

    await until('an attempt has ended', () => ended.length > 0);
    expect(ended).toEqual([stalled.path]);
    receiver.behaviour = respond(204);
    await webhooks.untilStatus(stalled, 'delivered', 1);
  });

  it('to a receiver that cannot be reached name no address that its host has', async () => {
    const webhook = await webhooks.create({ url: `http://localhost:${await freePort()}/` });
    await api.dummies.create();

    const { error } = await webhooks.untilError(webhook);
    expect(error).toBe('The receiver cannot be reached (ECONNREFUSED)');
  });

  it('without a response do not delay others', async () => {
    const hanging: TestWebhook[] = [];
    const responding: TestWebhook[] = [];
    for (let n = 0; n < 20; n++) {
      hanging.push(await webhooks.create({ types: ['dummy.updated'], url: `${receiver.url}/hanging` }));
      responding.push(await webhooks.create({ types: ['dummy.updated'] }));
    }
    const open = receiver.hold('/hanging');
    const { id } = await api.dummies.create();
    for (let n = 0; n < 20; n++) {
      const changed = await patiently(() => api.patch(`/v1/dummies/${id}`, { counter: n }));
      expect(changed).toHaveStatus(200);
    }

    for (const { path } of responding) await receiver.at(path, 20);
    expect(await webhooks.deliveries(hanging[0]!, '?status=delivered')).toEqual([]);
    for (const response of open) response.end();
  });

  it('are one at a time while they fail, and several again after a success', async () => {
    const failing = await webhooks.create();
    const other = await webhooks.create();
    receiver.respondAt(failing.path, 500);
    await api.dummies.create();
    await until('the first attempt has failed', async () => (await webhooks.failingSince(failing)) !== null);
    const waiting = receiver.hold(failing.path);

    for (let n = 0; n < 6; n++) await api.dummies.create();
    // Each time that one of these was claimed, an attempt of the failing webhook could have been, too.
    await receiver.at(other.path, 7);
    expect(waiting).toHaveLength(1);
    waiting[0]!.writeHead(204).end();
    await until('four attempts are in progress', async () => waiting.length === 5);
    receiver.behaviour = respond(204);
    for (const response of waiting.slice(1)) response.writeHead(204).end();
    await receiver.at(failing.path, 7);
  });

  it('do not count when their process was killed, and the next one has the first delay', async () => {
    const own = await startApi(store, {}, [FixtureModule]);
    const ownWebhooks = await Webhooks.of(own, receiver);
    const webhook = await ownWebhooks.create();
    let now = Date.now();
    own.stopClock(now);
    // An attempt without a result, as a killed process leaves it.
    const lost = receiver.hold(webhook.path);
    await own.dummies.create();
    await receiver.at(webhook.path, 1);

    receiver.respondAt(webhook.path, 500);
    own.stopClock((now += 30 * SECOND));
    const failed = await ownWebhooks.untilNewest(webhook, 'has failed', ({ error }) => error !== null);
    expect(failed.attempts).toBe(1);
    expect(Date.parse(failed.next_attempt_at) - now).toBeLessThan(6 * SECOND);

    // The next one that is lost is the first of its kind again.
    const again = receiver.hold(webhook.path);
    own.stopClock((now += 6 * SECOND));
    await receiver.at(webhook.path, 3);
    const [held] = await ownWebhooks.deliveries(webhook);
    expect(Date.parse(held.next_attempt_at)).toBe(now + 30 * SECOND);

    again[0]!.writeHead(204).end();
    await ownWebhooks.untilStatus(webhook, 'delivered', 2);
    lost[0]!.end();
    await own.stop();
  });

  it('come later after each one that was killed, so that a delivery that kills processes lets others pass', async () => {
    const own = await startApi(store, {}, [FixtureModule]);
    const ownWebhooks = await Webhooks.of(own, receiver);
    const webhook = await ownWebhooks.create();
    let now = Date.now();
    own.stopClock(now);
    const lost = receiver.hold(webhook.path);
    await own.dummies.create();
    for (const [n, lease] of [30 * SECOND, MINUTE, 5 * MINUTE].entries()) {
      await receiver.at(webhook.path, n + 1);
      const [delivery] = await ownWebhooks.deliveries(webhook);
      expect(delivery).toMatchObject({ status: 'pending', attempts: 0 });
      expect(Date.parse(delivery.next_attempt_at)).toBe(now + lease);
      own.stopClock((now += lease));
    }
    await receiver.at(webhook.path, 4);
    receiver.behaviour = respond(204);
    await own.dummies.create();
    await ownWebhooks.untilStatus(webhook, 'delivered', 1);
    for (const response of lost) response.end();
    await own.stop();
  });

  it('are made by one of two processes that have seen the delivery at the same time', async () => {
    const own = await startApi(store, {}, [FixtureModule]);
    const ownWebhooks = await Webhooks.of(own, receiver);
    const webhook = await ownWebhooks.create();
    await own.app.get(WebhookSender, { strict: false }).stop();
    await ownWebhooks.sendTest(webhook);
    const [queue, queries] = [own.app.get(DeliveryQueue, { strict: false }), own.app.get(Queries)];
    const all = queries.all.bind(queries);
    let others: readonly unknown[] | undefined;
    jest.spyOn(queries, 'all').mockImplementation(async (...statement) => {
      const due = await all(...statement);
      // Others read as well, in the background.
      if (!statement[0].includes('webhook_deliveries')) return due;
      jest.restoreAllMocks();
      others = await queue.claim(new Map(), 1);
      return due;
    });

    expect(await queue.claim(new Map(), 1)).toEqual([]);
    expect(others).toHaveLength(1);
    await own.stop();
  });

  it('have 10 seconds each', async () => {
    const webhook = await webhooks.create();
    receiver.hold(webhook.path);
    await api.dummies.create();

    expect(await webhooks.untilError(webhook)).toMatchObject({
      status: 'pending',
      attempts: 1,
      response_status: null,
      error: 'There was no response within 10 seconds',
    });
  });
});

const PUBLIC = { settings: { WEBHOOKS_ALLOW_PRIVATE: 'off' }, modules: [FixtureModule], servers };
onEach('Attempts with WEBHOOKS_ALLOW_PRIVATE=off', PUBLIC, ({ api, receiver }) => {
  it('send nothing to a private address, in any notation', async () => {
    const webhooks = await Webhooks.of(api, receiver);
    const { port } = receiver;
    const urls = {
      'a literal address': `http://127.0.0.1:${port}/literal`,
      'a name that resolves to one': `http://localhost:${port}/name`,
      'IPv4 within IPv6': `http://[::ffff:127.0.0.1]:${port}/within`,
      'an address in another notation': `http://0x7f.1:${port}/notation`,
    };
    const created = await Promise.all(Object.values(urls).map((url) => webhooks.create({ url })));
    await api.dummies.create();

    for (const [n, name] of Object.keys(urls).entries()) {
      const { response_status, error } = await webhooks.untilError(created[n]!);
      expect({ name, response_status, error }).toEqual({
        name,
        response_status: null,
        error: expect.stringContaining('not public'),
      });
    }
    expect(receiver.delivered.map(({ path }) => path)).toEqual([]);
  });
});
