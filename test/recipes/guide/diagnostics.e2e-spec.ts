import { beforeAll, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Account } from '../../../src/accounts/account.entity.js';
import { onEach } from '../../support/on-each.js';
import { DiagnosticsModule } from './diagnostics/diagnostics.module.js';

onEach('the details of the checks', { modules: [DiagnosticsModule] }, ({ api }) => {
  let staff: Record<string, string>;
  beforeAll(async () => {
    staff = await api.accounts.logInNewStaff();
  });

  it('are shown to staff only, also when a check fails', async () => {
    const healthy = await api.get('/v1/diagnostics', staff);
    expect(healthy).toHaveStatus(200);
    expect(healthy.body.details).toMatchObject({ database: { status: 'up' }, unverified: { waiting: 1 } });

    const accounts = api.app.get<Repository<Account>>(getRepositoryToken(Account), { strict: false });
    const [account] = await accounts.find();
    const hidden = { nameFolded: 'ada', passwordHash: 'none' };
    for (let id = 100; id < 200; id++) {
      const email = `${id}@example.com`;
      await accounts.insert(Object.assign({}, account, { id, ...hidden, email, emailKey: email }));
    }
    const failed = await api.get('/v1/diagnostics', staff);
    expect([failed.status, failed.body.error]).toEqual([
      503,
      { unverified: { status: 'down', waiting: 101 } },
    ]);

    expect(failed.headers).toHaveProperty('retry-after');

    const ada = await api.accounts.logInNew('ada@example.com');
    expect(await api.get('/v1/diagnostics', ada)).toBeError('FORBIDDEN');
    expect(await api.get('/v1/diagnostics')).toBeError('UNAUTHENTICATED');
  });
});
