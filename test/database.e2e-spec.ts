import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { Controller, Get, Module, Param } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import { DataSource, type Repository } from 'typeorm';
import { Public } from '../src/platform/access/index.js';
import { commandDataSource } from '../src/platform/database/data-source.js';
import { Database } from '../src/platform/database/database.js';
import { migrate } from '../src/platform/database/migrate.js';
import { migrations } from '../src/platform/database/migrations/index.js';
import { Queries } from '../src/platform/database/queries.js';
import { Transactions } from '../src/platform/database/transactions.js';
import { PASSWORD } from './support/accounts.js';
import { startApi, startApiOn } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { Dummy, DummyStatus } from './support/fixture/dummy.entity.js';
import { onEach } from './support/on-each.js';
import { createStore } from './support/stores.js';
import { loadConfig } from '../src/platform/config/load-config.js';
import { environmentOfProcess } from './support/environment.js';

const MISTAKES: Readonly<Record<string, string>> = {
  'a misspelt table': 'SELECT id FROM accountss',
  'a misspelt column': 'SELECT idd FROM accounts',
  'a missing value': 'SELECT id FROM accounts WHERE id = $1 OR id = $2',
};

const FIELDS = { text: 'Some text', status: DummyStatus.open, counter: 0 };

@Controller('mistakes')
@Public()
class MistakesController {
  constructor(
    private readonly source: DataSource,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
  ) {}

  @Get(':mistake/:way')
  read(@Param('mistake') mistake: string, @Param('way') way: string): Promise<unknown> {
    const sql = MISTAKES[mistake]!;
    const ways: Record<string, () => Promise<unknown>> = {
      query: () => this.source.query(sql, sql.includes('$2') ? ['1'] : []),
      read: () => this.queries.all(sql),
      search: () => this.queries.search(sql),
      write: () => this.transactions.execute(sql),
      run: () => this.transactions.run((manager) => manager.query(sql)),
    };
    return ways[way]!();
  }
}

@Module({ controllers: [MistakesController] })
class MistakesModule {}

onEach('the database', { modules: [FixtureModule] }, ({ api, store }) => {
  it('has the schema that the entities describe', async () => {
    const { upQueries } = await api.app.get(Database).source.driver.createSchemaBuilder().log();

    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('reads entities with numbers and dates', async () => {
    const { id, created_at } = await api.dummies.create();
    const account = await api.accounts.register('ada@example.com');
    const dummies: Repository<Dummy> = api.app.get(getRepositoryToken(Dummy));
    await dummies.update({ id }, { accountId: account.id });

    const dummy = await dummies.findOneOrFail({ where: { id }, relations: { account: true } });

    expect(dummy).toMatchObject({ id, accountId: account.id, createdAt: new Date(created_at) });
    expect(dummy.account).toMatchObject({ id: account.id, name: 'Ada' });
  });

  it('stores entities with times to the millisecond', async () => {
    const createdAt = new Date('2026-01-02T03:04:05.678Z');
    const { transactions, queries } = api.app.get(Database);

    const { id } = await transactions.run((manager) =>
      manager.save(Dummy, { ...FIELDS, createdAt, updatedAt: createdAt }),
    );

    expect(await queries.one('SELECT id, created_at FROM dummies WHERE id = :id', { id })).toEqual({
      id,
      created_at: createdAt.toISOString(),
    });
  });

  it('has migrations that can be reverted and run again', async () => {
    const { environment, ...testStore } = await createStore(store, { empty: true });
    const config = loadConfig(environment);
    expect(await migrate(config)).toEqual(migrations.map(({ name }) => name));

    const source = await commandDataSource(config).initialize();
    for (const _ of migrations) await source.undoLastMigration({ transaction: 'all' });
    await source.destroy();

    expect(await migrate(config)).toHaveLength(migrations.length);
    expect(await migrate(config)).toEqual([]);
    await testStore.remove();
  });

  it('of a version before the first release stops the start with a sentence', async () => {
    const { environment, ...testStore } = await createStore(store);
    const source = await commandDataSource(loadConfig(environment)).initialize();
    await source.query(
      `INSERT INTO migrations (timestamp, name) VALUES (1763700000000, 'Users1763700000000')`,
    );
    await source.destroy();

    for (const MIGRATE of ['auto', 'off'])
      await expect(startApiOn({ ...environment, MIGRATE })).rejects.toThrow(
        / before the first release, .*; use a new database$/,
      );
    await testStore.remove();
  });

  it('lacks a column that an entity describes: the service is not ready, and names it', async () => {
    const own = await startApi(store, {}, [FixtureModule]);
    const execute = (sql: string) => own.rows.execute(sql);
    await execute('ALTER TABLE stubs ADD COLUMN more text');
    expect(await own.get('/health/ready')).toHaveStatus(200);

    await execute('ALTER TABLE stubs RENAME COLUMN text TO gone');
    const { details } = (await own.get('/health/ready')).body.error;
    const message = expect.stringMatching(/^stubs\.text is a column that the database lacks; /);
    expect(details).toEqual([{ field: 'schema', message }]);
    await own.stop();
  });

  it('migrates once when many processes start together', async () => {
    const { environment, ...testStore } = await createStore(store, { empty: true });
    const command = () =>
      promisify(execFile)(process.execPath, ['dist/commands/migrate.js', '--yes'], {
        env: { ...environmentOfProcess(), ...environment },
      });

    const outputs = await Promise.all(Array.from({ length: 5 }, command));

    expect(outputs.filter(({ stdout }) => stdout.startsWith('Migrations run'))).toHaveLength(1);
    expect(outputs.filter(({ stdout }) => stdout.startsWith('The schema is up to date'))).toHaveLength(4);
    await testStore.remove();
  });

  it('joins nested units of work into one', async () => {
    const { transactions } = api.app.get(Database);
    const { id } = await api.dummies.create();
    const before = await api.dummies.count();

    const outer = transactions.run(async (manager) => {
      await transactions.execute("UPDATE dummies SET text = 'Within' WHERE id = :id", { id });
      await transactions.run((inner) => inner.query(`UPDATE dummies SET counter = 7 WHERE id = ${id}`));
      await manager.query(`DELETE FROM dummies WHERE id = ${id}`);
      throw new Error('No');
    });

    await expect(outer).rejects.toThrow('No');
    expect(await api.dummies.count()).toBe(before);
    expect(await api.dummies.get(id)).toMatchObject({ text: 'Some text', counter: 0 });
  });

  it('replaces placeholders, and keeps colons in literals, identifiers and comments', async () => {
    const { queries, transactions } = api.app.get(Database);
    const sql = `SELECT ':id it''s :id' AS "a :id", CAST(:id AS int) AS id /* :id */ -- :id
      , CAST(:id AS int) + :more AS sum`;
    const expected = [{ 'a :id': ":id it's :id", id: 7, sum: 8 }];

    expect(await queries.all(sql, { id: 7, more: 1 })).toEqual(expected);
    expect(await transactions.run(() => transactions.execute(sql, { id: 7, more: 1 }))).toEqual(expected);
  });

  it('lists every migration of its folder, in the order of the timestamps', async () => {
    const files = (await readdir('src/platform/database/migrations')).filter((name) =>
      /^\d+-[^.]+\.ts$/.test(name),
    );

    expect(migrations.map(({ name }) => /\d+$/.exec(name)![0])).toEqual(
      files.toSorted().map((name) => name.split('-')[0]),
    );
  });

  it('responds with 503 while migrations are pending', async () => {
    const bare = await startApi(store, { MIGRATE: 'off' });

    const registration = { email: 'ada@example.com', name: 'Ada', password: PASSWORD };
    expect(await bare.get('/.well-known/jwks.json')).toBeError('SERVICE_UNAVAILABLE');
    expect(await bare.post('/auth/register/', registration)).toBeError('SERVICE_UNAVAILABLE');
    expect(await bare.get('/health')).toHaveStatus(200);

    await migrate(bare.config);
    expect(await bare.get('/.well-known/jwks.json')).toHaveStatus(200);
    expect(await bare.post('/auth/register/', registration)).toHaveStatus(201);
    expect(await bare.get('/health/ready')).toHaveStatus(200);
    await bare.stop();
  });

  it.each(Object.keys(MISTAKES))('responds with 500 to a statement with %s', async (mistake) => {
    const mistaken = await startApi(store, {}, [MistakesModule]);
    const name = encodeURIComponent(mistake);

    for (const way of ['query', 'read', 'search', 'write', 'run']) {
      expect(await mistaken.get(`/mistakes/${name}/${way}`)).toBeError('INTERNAL_ERROR');
    }
    expect(await mistaken.get('/health/ready')).toHaveStatus(200);
    await mistaken.stop();
  });
});
