import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { commandDataSource } from '../src/database/data-source.js';
import { migrate } from '../src/database/migrate.js';
import { migrations } from '../src/database/migrations/index.js';
import { Transactions } from '../src/database/transactions.js';
import { startApi, type TestApi } from './support/api.js';
import { STORES } from './support/stores.js';

describe.each(STORES)('a schema mismatch on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
  });
  afterAll(() => api.stop());

  const execute = (sql: string) => api.app.get(Transactions).execute(sql);
  const ready = async () => {
    const { body } = await api.get('/health/ready');
    return body.status ?? body.error.details;
  };

  it('is reported for a migration that changed after it ran, until the change is accepted', async () => {
    expect(await ready()).toBe('ok');
    await execute(`UPDATE migration_checksums SET checksum = 'x' WHERE name = 'Posts1763700000001'`);

    expect(await ready()).toEqual([
      {
        field: 'migrations',
        message: expect.stringMatching(/^Posts1763700000001 was changed after it ran; /),
      },
    ]);
    await migrate(api.config);
    expect(await ready()).toHaveLength(1);
    await migrate(api.config, { accept: true });
    expect(await ready()).toBe('ok');
  });

  it('is resolved after a migration was reverted, changed and run', async () => {
    const source = await commandDataSource(api.config).initialize();
    await source.undoLastMigration({ transaction: 'all' });
    await source.destroy();
    await execute(`UPDATE migration_checksums SET checksum = 'x' WHERE name = '${migrations.at(-1)!.name}'`);
    expect(await ready()).toEqual([{ field: 'migrations', message: '1 still to run' }]);

    await migrate(api.config);
    expect(await ready()).toBe('ok');
  });

  it('is not reported for migrations that ran before checksums existed', async () => {
    await execute('DROP TABLE migration_checksums');
    expect(await ready()).toBe('ok');

    await migrate(api.config);
    await execute(`UPDATE migration_checksums SET checksum = 'x'`);
    expect((await ready()).length).toBeGreaterThan(10);
    await migrate(api.config, { accept: true });
  });

  it('is reported for a missing column, but not for an additional one', async () => {
    await execute('ALTER TABLE orders ADD COLUMN more text');
    expect(await ready()).toBe('ok');

    await execute('ALTER TABLE orders RENAME COLUMN payload TO gone');
    expect(await ready()).toEqual([
      {
        field: 'schema',
        message: expect.stringMatching(/^orders\.payload is a column that the database lacks; /),
      },
    ]);
    await execute('ALTER TABLE orders RENAME COLUMN gone TO payload');
  });
});
