import { expect, it } from '@jest/globals';
import { FixtureModule } from './support/fixture.module.js';
import { onEach } from './support/on-each.js';
import { respond, Receiver } from './support/receiver.js';
import { planOf, scrape } from './support/scrape.js';
import { until } from './support/until.js';

const SETTINGS = { METRICS_PORT: '0' };
onEach('Metrics of webhooks', { settings: SETTINGS, modules: [FixtureModule] }, ({ api, store }) => {
  it('report the number and age of pending deliveries, and the results of attempts', async () => {
    const receiver = await new Receiver().start();
    const staff = await api.accounts.logInNewStaff();
    const webhook = async (address: string) =>
      (await api.post('/v1/webhooks', { url: address, types: ['dummy.created'] }, staff)).body.data
        .id as number;
    const attempts = async (result: string) =>
      (await scrape(api)).get(`webhook_attempts_total{result="${result}"}`) ?? 0;

    const id = await webhook(receiver.url);
    await api.post(`/v1/webhooks/${id}/test`, {}, staff);
    await until('it is accepted', async () => (await attempts('accepted')) === 1);
    receiver.behaviour = respond(500);
    await api.post(`/v1/webhooks/${id}/test`, {}, staff);
    await until('it is refused', async () => (await attempts('refused')) === 1);
    await receiver.stop();
    await api.post(`/v1/webhooks/${id}/test`, {}, staff);
    await until('it is unreachable', async () => (await attempts('unreachable')) >= 1);

    expect((await scrape(api)).get('webhook_deliveries_pending')).toBe(2);
    await api.rows.execute(`UPDATE webhook_deliveries SET created_at = :recorded WHERE status = 'pending'`, {
      recorded: new Date(Date.now() - 600_000).toISOString(),
    });
    const age = (await scrape(api)).get('webhook_deliveries_oldest_age_seconds');
    expect(age).toBeGreaterThanOrEqual(600);
    expect(age).toBeLessThan(3600);

    await api.delete(`/v1/webhooks/${id}`, staff);
    const samples = await scrape(api);
    expect(samples.get('webhook_deliveries_pending')).toBe(0);
    expect(samples.get('webhook_deliveries_oldest_age_seconds')).toBe(0);
  });

  it('read few index entries, whatever the length of a queue', async () => {
    const { id } = (
      await api.rows.execute<{ id: number }>(
        `INSERT INTO webhooks (url, types, description, active, secret, after_position, created_at, updated_at)
       VALUES ('http://127.0.0.1:9/', '[]', '', FALSE, '', 0, :now, :now) RETURNING id`,
        { now: new Date().toISOString() },
      )
    )[0]!;
    const numbers =
      store === 'SQLite'
        ? 'WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 20000) SELECT n FROM n'
        : 'SELECT n FROM generate_series(1, 20000) AS g (n)';
    await api.rows.execute(
      `INSERT INTO webhook_deliveries (webhook_id, event_id, type, status, attempts, created_at, expires_at)
       SELECT ${id}, n, 'x', CASE n % 10 WHEN 0 THEN 'failed' ELSE 'pending' END, 0, :now, :now FROM (${numbers}) AS n`,
      { now: new Date().toISOString() },
    );
    if (store === 'PostgreSQL') await api.rows.execute('ANALYZE webhook_deliveries');

    expect((await scrape(api)).get('webhook_deliveries_pending')).toBe(10_000);
    expect(
      await planOf(api, `SELECT min(created_at) FROM webhook_deliveries WHERE status = 'pending'`),
    ).toContain('webhook_deliveries_pending');
    await api.rows.execute('DELETE FROM webhooks WHERE id = :id', { id });
  });

  it('report how far their subscriber is behind', async () => {
    const samples = await scrape(api);
    expect(samples.get('event_subscriber_lag_seconds{subscriber="webhooks"}')).toBe(0);
    expect(samples.get('event_subscriber_failed_attempts{subscriber="webhooks"}')).toBe(0);
  });
});
