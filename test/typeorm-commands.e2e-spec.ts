import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';
import { loadConfig } from '../src/platform/config/load-config.js';
import { commandDataSource } from '../src/platform/database/data-source.js';
import { migrate } from '../src/platform/database/migrate.js';
import { columnTypes } from '../src/platform/database/migrations/column-types.js';
import { migrations } from '../src/platform/database/migrations/index.js';
import { environmentOfProcess } from './support/environment.js';
import { createStore, ifEmbedded, STORES, type TestStore } from './support/stores.js';

const run = promisify(execFile);

/** Columns as the documentation of TypeORM shows them. */
@Entity('collations')
class Collation {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column('text')
  title!: string;

  @Column({ type: 'text', nullable: true })
  text!: string | null;
}

/** Only PostgreSQL has enums. */
@Entity('enums')
class Enum {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ type: 'enum', enum: ['open', 'done'] })
  status!: string;
}

describe.each(STORES)('npm run typeorm on %s', (store) => {
  let testStore: TestStore;
  beforeEach(async () => {
    testStore = await createStore(store);
  });
  afterEach(() => testStore.remove());

  const typeorm = (parameters: string[], settings: Record<string, string> = {}) =>
    run(process.execPath, ['node_modules/typeorm/cli.js', '-d', 'ormconfig.ts', ...parameters], {
      env: { ...environmentOfProcess(), ...testStore.environment, ...settings },
    }).then(
      ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
      ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
    );

  it('reverts the last migration, which then runs again', async () => {
    const { code, output } = await typeorm(['migration:revert']);

    expect(output).toContain('has been reverted successfully');
    expect(code).toBe(0);
    expect(await migrate(loadConfig(testStore.environment))).toEqual([migrations.at(-1)!.name]);
  });

  it('generates nothing for a schema that the entities describe', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'migration-'));
    const { code, output } = await typeorm(['migration:generate', join(folder, 'none')], {
      GENERATE_FOR: 'sqlite',
    });

    expect(output).toContain('No changes in database schema were found');
    expect([code, readdirSync(folder)]).toEqual([1, []]);
  });

  it('keeps the collation of columns whose entity has none', async () => {
    const source = await commandDataSource(loadConfig(testStore.environment), [Collation]).initialize();
    const runner = source.createQueryRunner();
    const { id, text } = columnTypes(runner);
    const key = store === 'SQLite' ? id : 'serial PRIMARY KEY';
    await runner.query(
      `CREATE TABLE collations ("id" ${key}, title ${text} NOT NULL, text ${text} NOT NULL)`,
    );
    await runner.release();

    const { upQueries } = await source.driver.createSchemaBuilder().log();
    await source.destroy();

    const changes = upQueries.map(({ query }) => query).filter((query) => query.includes('"collations"'));
    // SQLite copies the table.
    const altered = changes.filter((query) => query.startsWith('ALTER TABLE "collations" ALTER'));
    expect(changes.join()).not.toContain('undefined');
    expect(altered).toEqual(
      store === 'SQLite' ? [] : ['ALTER TABLE "collations" ALTER COLUMN "text" DROP NOT NULL'],
    );
  });

  (store === 'SQLite' ? describe.skip : describe)('an enum', () => {
    it('has no collation when it replaces a text', async () => {
      const source = await commandDataSource(loadConfig(testStore.environment), [Enum]).initialize();
      const runner = source.createQueryRunner();
      await runner.query(
        `CREATE TABLE enums (id serial PRIMARY KEY, status ${columnTypes(runner).text} NOT NULL)`,
      );
      await runner.release();

      const { upQueries } = await source.driver.createSchemaBuilder().log();
      const changes = upQueries.map(({ query }) => query).filter((query) => query.includes('"enums'));
      for (const change of changes) await source.query(change);
      await source.destroy();

      expect(changes.join()).toContain('ADD "status" "public"."enums_status_enum" NOT NULL');
      expect(changes.join()).not.toContain('COLLATE');
    });
  });
});

ifEmbedded(describe)('npm run typeorm -- migration:generate', () => {
  it('rejects SQLite, where the migration would copy whole tables', async () => {
    const { environment, ...testStore } = await createStore('SQLite');
    const env = { ...environmentOfProcess(), ...environment };
    const command = ['node_modules/typeorm/cli.js', '-d', 'ormconfig.ts', 'migration:generate', 'x'];

    const failed = await run(process.execPath, command, { env }).catch((error: unknown) => error);
    await testStore.remove();

    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining('Set DATABASE_URL') });
    expect(JSON.parse(readFileSync('package.json', 'utf8')).scripts.typeorm).toContain('-d ormconfig.ts');
  });
});
