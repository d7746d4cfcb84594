import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { bearer } from '../../support/accounts.js';
import { startApi, type TestApi } from '../../support/api.js';
import { hasRedis, RedisServer } from '../../support/redis.js';
import { ANY_STORE } from '../../support/stores.js';
import { until } from '../../support/until.js';
import { MailingModule, Mailings } from './mailing/mailing.module.js';

it('mailings are 503 without Redis, and the service starts', async () => {
  const api = await startApi(ANY_STORE, {}, [MailingModule]);
  await api.accounts.register('staff@example.com');
  await api.accounts.admin().setStaff('staff@example.com', true);
  const { access } = await api.accounts.login('staff@example.com');

  expect(await api.post('/v1/mailings', { subject: 'News' }, bearer(access))).toBeError(
    'SERVICE_UNAVAILABLE',
  );
  await api.stop();
});

(hasRedis ? describe : describe.skip)('mailings (skipped without redis-server)', () => {
  let redis: RedisServer;
  let api: TestApi;
  beforeAll(async () => {
    redis = await RedisServer.start();
    api = await startApi(ANY_STORE, { REDIS_URL: redis.url }, [MailingModule]);
    await api.accounts.register('staff@example.com');
    await api.accounts.admin().setStaff('staff@example.com', true);
  });
  afterAll(async () => {
    await api.stop();
    await redis.stop();
  });

  it('are delivered after the response, and retried after a failure', async () => {
    const { access } = await api.accounts.login('staff@example.com');
    const deliver = jest.spyOn(api.app.get(Mailings), 'deliver').mockRejectedValueOnce(new Error('No'));

    expect(await api.post('/v1/mailings', { subject: 'News' })).toBeError('UNAUTHENTICATED');
    expect(await api.post('/v1/mailings', { subject: '' }, bearer(access))).toBeError('VALIDATION_ERROR');
    expect(await api.post('/v1/mailings', { subject: 'News' }, bearer(access))).toHaveStatus(202);

    await until('both mails are delivered', async () => deliver.mock.calls.length === 2);
    expect(deliver).toHaveBeenLastCalledWith({ subject: 'News' });
  });

  it.each(['frozen', 'stopped'])(
    'are 503 while Redis is %s, and do not keep the service from stopping',
    async (how) => {
      const server = await RedisServer.start();
      const other = await startApi(ANY_STORE, { REDIS_URL: server.url }, [MailingModule]);
      await other.accounts.register('staff@example.com');
      await other.accounts.admin().setStaff('staff@example.com', true);
      const { access } = await other.accounts.login('staff@example.com');
      await until('Redis takes a mailing', async () => {
        const { status } = await other.post('/v1/mailings', { subject: 'News' }, bearer(access));
        return status === 202;
      });
      if (how === 'frozen') server.freeze();
      else await server.stop();

      expect(await other.post('/v1/mailings', { subject: 'News' }, bearer(access))).toBeError(
        'SERVICE_UNAVAILABLE',
      );
      await other.stop();
      await server.stop();
    },
  );
});
