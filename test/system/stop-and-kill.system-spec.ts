import { describe, expect, it } from '@jest/globals';
import { MailSender } from '../../src/platform/mail/index.js';
import { PASSWORD, startApiOn } from '../support/api.js';
import { FixtureModule } from '../support/fixture.module.js';
import { freePort } from '../support/free-port.js';
import { linkIn, MailServer } from '../support/mail-server.js';
import { Service } from '../support/service.js';
import { ANY_STORE, createStore, STORES } from '../support/stores.js';
import { until } from '../support/until.js';

describe.each(STORES)('a write with a key on %s', (store) => {
  it('is returned to a retry after a kill -9 between the commit and the response', async () => {
    const { environment, ...testStore } = await createStore(store);
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' };
    const init = { method: 'POST', body: '{"text":"Once"}', headers };
    const dying = await Service.withFixture({
      ...environment,
      NODE_OPTIONS: '--import ./test/support/die-before-response.mjs',
    });
    await expect(dying.fetch('/v1/samples', init)).rejects.toThrow('fetch failed');
    await dying.end();
    expect(dying.process.signalCode).toBe('SIGKILL');

    const api = await startApiOn(environment, [FixtureModule]);
    const reply = await api.post('/v1/samples', init.body, init.headers);

    expect(reply).toHaveStatus(201);
    expect(reply.headers['idempotent-replayed']).toBe('true');
    expect(reply.headers['location']).toBe('/v1/samples/1');
    expect(reply.body).toMatchObject({ data: { id: 1, text: 'Once' } });
    expect(await api.samples.count()).toBe(1);
    await api.stop();
    await testStore.remove();
  });
});

describe('the stop of a process', () => {
  it('is not delayed by a mail server that hangs, and no mail is lost', async () => {
    const server = await MailServer.start();
    const { environment, ...testStore } = await createStore(ANY_STORE);
    const settings = { ...environment, ...server.settings, PORT: String(await freePort()) };
    server.behaviour = 'hangs';
    const service = await Service.start(settings);
    await service.fetch('/auth/register/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'stop@example.com', name: 'Ada', password: PASSWORD }),
    });
    await until('the server was contacted', () => server.attempts.length > 0);
    expect((await service.end()).code).toBe(0);

    server.behaviour = 'accepts';
    const api = await startApiOn({ ...server.settings, ...environment });
    api.moveClock(3600_000);
    await api.app.get(MailSender).poll();
    expect(linkIn(await server.next('stop@example.com'))).toContain('#action=verify-email');
    await api.stop();
    await testStore.remove();
    await server.stop();
  });
});
