import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { bearer, startApi, type TestApi } from '../../support/api.js';
import { STORES } from '../../support/stores.js';
import { DiagnosticsModule } from './diagnostics/diagnostics.module.js';

describe.each(STORES)('the details of the checks on %s', (store) => {
  let api: TestApi;
  let staff: Record<string, string>;
  beforeAll(async () => {
    api = await startApi(store, {}, [DiagnosticsModule]);
    await api.accounts.register('staff@example.com');
    await api.accounts.admin().setStaff('staff@example.com', true);
    staff = bearer((await api.accounts.login('staff@example.com')).access);
  });
  afterAll(() => api.stop());

  it('are shown to staff only, also when a check fails', async () => {
    const healthy = await api.get('/v1/diagnostics', staff);
    expect(healthy).toHaveStatus(200);
    expect(healthy.body.details).toMatchObject({ database: { status: 'up' }, drafts: { waiting: 0 } });

    const titles = Array.from({ length: 101 }, (_, n) => `Draft ${n}`);
    await api.posts.createBy(1, titles);
    const failed = await api.get('/v1/diagnostics', staff);
    expect([failed.status, failed.body.error]).toEqual([503, { drafts: { status: 'down', waiting: 101 } }]);

    expect(failed.headers).toHaveProperty('retry-after');

    await api.accounts.register('ada@example.com');
    const ada = bearer((await api.accounts.login('ada@example.com')).access);
    expect(await api.get('/v1/diagnostics', ada)).toBeError('FORBIDDEN');
    expect(await api.get('/v1/diagnostics')).toBeError('UNAUTHENTICATED');
  });
});
