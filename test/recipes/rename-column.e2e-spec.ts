import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type DataSource, Entity, type MigrationInterface, type QueryRunner, type Repository } from 'typeorm';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { IdColumn, IntegerColumn } from '../../src/platform/database/columns.js';
import { commandDataSource } from '../../src/platform/database/data-source.js';
import { columnTypes } from '../../src/platform/database/migrations/column-types.js';
import { createStore, STORES, type TestStore } from '../support/stores.js';

/** The column `priority` gets the name `urgency`. Each release runs next to the one before it, on the same database. */
interface Release {
  save(value: number | null): Promise<number>;
  change(id: number, value: number | null): Promise<unknown>;
  read(id: number): Promise<number | null>;
}

const table = Entity('chores');

@table
class Chore0 {
  @IdColumn()
  id!: number;

  @IntegerColumn('priority', { nullable: true })
  priority!: number | null;
}

class Chores1760000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const { id, integer } = columnTypes(runner);
    await runner.query(`CREATE TABLE chores ("id" ${id}, priority ${integer})`);
  }

  async down(): Promise<void> {}
}

const release0 = (chores: Repository<Chore0>): Release => ({
  save: async (priority) => (await chores.save({ priority })).id,
  change: (id, priority) => chores.update({ id }, { priority }),
  read: async (id) => (await chores.findOneByOrFail({ id })).priority,
});

class ChoreUrgency1760000000001 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE chores ADD COLUMN urgency ${columnTypes(runner).integer}`);
  }

  async down(): Promise<void> {}
}

@table
class Chore1 extends Chore0 {
  @IntegerColumn('urgency', { nullable: true })
  urgency!: number | null;
}

/** Both columns, wherever one of them is written. */
const both = (urgency: number | null) => ({ urgency, priority: urgency });

const release1 = (chores: Repository<Chore1>): Release => ({
  save: async (value) => (await chores.save(both(value))).id,
  change: (id, value) => chores.update({ id }, both(value)),
  read: async (id) => (await chores.findOneByOrFail({ id })).priority,
});

const release2 = (chores: Repository<Chore1>): Release => ({
  ...release1(chores),
  read: async (id) => (await chores.findOneByOrFail({ id })).urgency,
});

@table
class Chore3 {
  @IdColumn()
  id!: number;

  @IntegerColumn('urgency', { nullable: true })
  urgency!: number | null;
}

const release3 = (chores: Repository<Chore3>): Release => ({
  save: async (urgency) => (await chores.save({ urgency })).id,
  change: (id, urgency) => chores.update({ id }, { urgency }),
  read: async (id) => (await chores.findOneByOrFail({ id })).urgency,
});

class DropChorePriority1760000000003 implements MigrationInterface {
  readonly unused = ['chores.priority'];

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE chores DROP COLUMN priority');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE chores ADD COLUMN priority ${columnTypes(runner).integer}`);
  }
}

describe.each(STORES)('a column that is renamed over three releases, on %s', (store) => {
  let testStore: TestStore;
  let sources: DataSource[] = [];
  beforeEach(async () => {
    testStore = await createStore(store);
  });
  afterEach(async () => {
    for (const source of sources) await source.destroy();
    sources = [];
    await testStore.remove();
  });

  /** Starts a release, as if in a process of its own. */
  async function start<T extends object>(
    entity: new () => T,
    release: (chores: Repository<T>) => Release,
  ): Promise<Release> {
    const source = await commandDataSource(loadConfig(testStore.environment), [entity]).initialize();
    sources.push(source);
    return release(source.getRepository(entity));
  }

  async function migrate(migration: MigrationInterface): Promise<void> {
    const runner = sources[0]!.createQueryRunner();
    await migration.up(runner);
    await runner.release();
  }

  /** Each of them reads what the other one writes. */
  async function runTogether(older: Release, newer: Release): Promise<void> {
    for (const [writer, reader] of [
      [older, newer],
      [newer, older],
    ] as const) {
      const id = await writer.save(1);
      expect(await reader.read(id)).toBe(1);
      await writer.change(id, 2);
      expect(await reader.read(id)).toBe(2);
      await writer.change(id, null);
      expect(await reader.read(id)).toBeNull();
    }
  }

  it('is read and written by each release and the one before it', async () => {
    const oldest = await start(Chore0, release0);
    await migrate(new Chores1760000000000());
    const before = await oldest.save(7);

    const first = await start(Chore1, release1);
    await migrate(new ChoreUrgency1760000000001());
    await runTogether(oldest, first);
    // Instead of the job: all replicas have release 1, which writes both columns.
    await sources[0]!.query('UPDATE chores SET urgency = priority');

    const second = await start(Chore1, release2);
    await runTogether(first, second);
    expect(await second.read(before)).toBe(7);

    const third = await start(Chore3, release3);
    await runTogether(second, third);

    await migrate(new DropChorePriority1760000000003());
    expect(await third.read(before)).toBe(7);
    expect(await third.read(await third.save(8))).toBe(8);
  });
});
