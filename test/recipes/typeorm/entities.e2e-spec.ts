/** https://typeorm.io, where this service's driver could differ: columns, listeners, results of writes, transactions. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import {
  AfterLoad,
  BeforeInsert,
  BeforeUpdate,
  Column,
  CreateDateColumn,
  DataSource,
  Entity,
  IsNull,
  LessThan,
  type Logger,
  Not,
  PrimaryGeneratedColumn,
  Repository,
  UpdateDateColumn,
  VersionColumn,
} from 'typeorm';
import {
  BooleanColumn,
  IdColumn,
  IntegerColumn,
  TextColumn,
  TimestampColumn,
} from '../../../src/platform/database/columns.js';
import { onEach } from '../../support/on-each.js';

@Entity()
class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true })
  title!: string;

  @Column({ type: 'int', default: 0 })
  likes!: number;

  @CreateDateColumn()
  createdAt!: Date;

  @UpdateDateColumn()
  updatedAt!: Date;

  @VersionColumn()
  version!: number;

  slug!: string;

  @BeforeInsert()
  @BeforeUpdate()
  trim() {
    this.title = this.title.trim();
  }

  @AfterLoad()
  makeSlug() {
    this.slug = this.title.toLowerCase();
  }
}

/** Every nullable column type of this service. */
@Entity('maybes')
class Maybe {
  @IdColumn()
  id!: number;

  @IntegerColumn('count', { nullable: true })
  count!: number | null;

  @TextColumn('note', { nullable: true })
  note!: string | null;

  @TimestampColumn('at', { nullable: true })
  at!: Date | null;

  @BooleanColumn('sure', { nullable: true })
  sure!: boolean | null;
}

@Module({ imports: [TypeOrmModule.forFeature([Article, Maybe])] })
class ArticlesModule {}

onEach('entities and queries as in the TypeORM documentation', { modules: [ArticlesModule] }, ({ api }) => {
  let source: DataSource;
  let articles: Repository<Article>;
  beforeAll(async () => {
    source = api.app.get(DataSource);
    articles = source.getRepository(Article);
    await source.synchronize();
  });
  beforeEach(() => articles.deleteAll());

  const make = (title: string, fields: Partial<Article> = {}) =>
    articles.save(articles.create({ title, ...fields }));

  it('stores dates to the millisecond, counts versions, and calls listeners', async () => {
    const start = Date.now();
    const made = await make(' Ada ');
    await sleep(3);
    made.likes = 3;
    await articles.save(made);

    const found = await articles.findOneByOrFail({ id: made.id });
    expect(found).toMatchObject({
      title: 'Ada',
      slug: 'ada',
      version: 2,
      likes: 3,
    });
    expect(found.createdAt.getTime()).toBeGreaterThanOrEqual(start - 2);
    expect(found.updatedAt.getTime()).toBeGreaterThan(found.createdAt.getTime());
    expect(found.updatedAt.getTime()).toBeLessThanOrEqual(Date.now() + 2);
  });

  it('supports upsert, update, increment and decrement', async () => {
    await articles.upsert(
      [
        { title: 'A', likes: 1 },
        { title: 'B', likes: 1 },
      ],
      ['title'],
    );
    await articles.upsert(
      { title: 'A', likes: 5 },
      { conflictPaths: ['title'], skipUpdateIfNoValuesChanged: true },
    );
    await articles.increment({ title: 'A' }, 'likes', 10);
    await articles.decrement({ title: 'B' }, 'likes', 1);
    expect(await articles.update({ title: 'B' }, { title: 'C' })).toMatchObject({ affected: 1 });

    expect(await articles.find({ order: { title: 'ASC' } })).toMatchObject([
      { title: 'A', likes: 15 },
      { title: 'C', likes: 0 },
    ]);
  });

  it('supports raw queries, with parameters by the template tag', async () => {
    await make('A', { likes: 4 });

    const rows = await source.sql`SELECT title, likes FROM article WHERE likes > ${3}`;
    expect(rows).toEqual([{ title: 'A', likes: 4 }]);
    expect(await source.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await source.manager.query(`UPDATE article SET likes = 5`);
    expect(await articles.countBy({ likes: 5 })).toBe(1);
  });

  it('rejects streams with the alternative', async () => {
    await expect(articles.createQueryBuilder('a').stream()).rejects.toThrow(/read in batches/);
  });

  it('supports the isolation levels that both databases have', async () => {
    for (const level of ['SERIALIZABLE', 'READ UNCOMMITTED'] as const) {
      await source.transaction(level, (manager) => manager.save(Article, { title: level }));
    }

    expect(await articles.count()).toBe(2);
  });

  it('supports loggers', async () => {
    const logQuery = jest.fn<Logger['logQuery']>();
    const before = source.logger;
    source.setOptions({
      logger: {
        logQuery,
        logQueryError() {},
        logQuerySlow() {},
        logSchemaBuild() {},
        logMigration() {},
        log() {},
      },
    });
    await make('A');
    source.logger = before;

    expect(logQuery.mock.calls.map(([sql]) => sql.split(' ')[0])).toContain('INSERT');
  });

  it('stores null in each nullable column type of this service', async () => {
    const maybes = source.getRepository(Maybe);
    const nothing = { count: null, note: null, at: null, sure: null };
    const at = new Date('2026-01-02T03:04:05.678Z');
    const { id } = await maybes.save({ ...nothing });
    await maybes.insert({ count: 0, note: '', at, sure: false });

    expect(await maybes.find({ order: { id: 'ASC' } })).toEqual([
      { id, ...nothing },
      { id: id + 1, count: 0, note: '', at, sure: false },
    ]);
    expect(await maybes.countBy({ at: LessThan(new Date()), count: Not(IsNull()) })).toBe(1);
    await maybes.update({ id: id + 1 }, nothing);
    expect(await maybes.countBy({ count: IsNull(), at: IsNull(), sure: IsNull(), note: IsNull() })).toBe(2);
  });
});
