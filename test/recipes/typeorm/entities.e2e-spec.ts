/** https://typeorm.io: special columns, listeners, find options, query builders, views, repositories, logging. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, Module } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  AfterLoad,
  BaseEntity,
  BeforeInsert,
  BeforeUpdate,
  Between,
  Column,
  CreateDateColumn,
  DataSource,
  DeleteDateColumn,
  Entity,
  ILike,
  In,
  IsNull,
  LessThan,
  Like,
  type Logger,
  MoreThan,
  Not,
  PrimaryGeneratedColumn,
  Raw,
  Repository,
  UpdateDateColumn,
  VersionColumn,
  ViewColumn,
  ViewEntity,
} from 'typeorm';
import {
  BooleanColumn,
  IdColumn,
  IntegerColumn,
  TextColumn,
  TimestampColumn,
} from '../../../src/platform/database/columns.js';
import type { TestApi } from '../../support/api.js';
import { STORES } from '../../support/stores.js';
import { startWithTables } from './start-with-tables.js';

@Entity()
class Article {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true })
  title!: string;

  @Column('simple-array', { default: '' })
  tags!: string[];

  @Column('simple-json', { nullable: true })
  extra!: object | null;

  @Column({ type: 'int', default: 0 })
  likes!: number;

  @Column({ type: 'float', nullable: true })
  score!: number | null;

  @Column({ default: false })
  hidden!: boolean;

  @CreateDateColumn()
  createdAt!: Date;

  @UpdateDateColumn()
  updatedAt!: Date;

  @DeleteDateColumn()
  deletedAt!: Date | null;

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

@ViewEntity({
  expression: (source: DataSource) =>
    source
      .createQueryBuilder()
      .select('article.title', 'title')
      .addSelect('article.likes', 'likes')
      .from(Article, 'article')
      .where('article.likes > 10'),
})
class PopularArticle {
  @ViewColumn()
  title!: string;

  @ViewColumn()
  likes!: number;
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

@Entity()
class ActiveUser extends BaseEntity {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;
}

@Injectable()
class ArticlesRepository extends Repository<Article> {
  constructor(@InjectRepository(Article) repository: Repository<Article>) {
    super(repository.target, repository.manager, repository.queryRunner);
  }

  findLiked(): Promise<Article[]> {
    return this.createQueryBuilder('article').where('article.likes > 0').orderBy('article.id').getMany();
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Article, PopularArticle, Maybe, ActiveUser])],
  providers: [ArticlesRepository],
})
class ArticlesModule {}

describe.each(STORES)('entities and queries as in the TypeORM documentation, on %s', (store) => {
  let api: TestApi;
  let source: DataSource;
  let articles: Repository<Article>;
  beforeAll(async () => {
    api = await startWithTables(store, ArticlesModule);
    source = api.app.get(DataSource);
    articles = source.getRepository(Article);
  });
  afterAll(() => api.stop());
  beforeEach(() => articles.deleteAll());

  const make = (title: string, fields: Partial<Article> = {}) =>
    articles.save(articles.create({ title, ...fields }));
  const titles = (found: Article[]) => found.map(({ title }) => title).toSorted();

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
      score: null,
      extra: null,
    });
    expect(found.createdAt.getTime()).toBeGreaterThanOrEqual(start - 2);
    expect(found.updatedAt.getTime()).toBeGreaterThan(found.createdAt.getTime());
    expect(found.updatedAt.getTime()).toBeLessThanOrEqual(Date.now() + 2);
  });

  it('stores JSON and lists', async () => {
    await make('A', { tags: ['x', 'y'], extra: { deep: [1, null] }, score: 1.5, hidden: true });

    expect(await articles.findOneByOrFail({ title: 'A' })).toMatchObject({
      tags: ['x', 'y'],
      extra: { deep: [1, null] },
      score: 1.5,
      hidden: true,
    });
  });

  it('supports find operators', async () => {
    for (const [n, title] of ['Ada', 'Bob', 'Cid', 'ada2'].entries())
      await make(title, { likes: n, ...(n > 1 && { score: n }) });
    const by = async (where: Parameters<typeof articles.findBy>[0]) => titles(await articles.findBy(where));

    expect(await by({ title: Like('%da') })).toEqual(['Ada']);
    expect(await by({ title: ILike('ADA%') })).toEqual(['Ada', 'ada2']);
    expect(await by({ likes: In([0, 2]) })).toEqual(['Ada', 'Cid']);
    expect(await by({ likes: Between(1, 2) })).toEqual(['Bob', 'Cid']);
    expect(await by({ likes: Not(LessThan(3)) })).toEqual(['ada2']);
    expect(await by({ score: IsNull() })).toEqual(['Ada', 'Bob']);
    expect(await by({ score: Not(IsNull()), likes: MoreThan(2) })).toEqual(['ada2']);
    expect(await by([{ title: 'Ada' }, { title: 'Bob' }])).toEqual(['Ada', 'Bob']);
    expect(await by({ likes: Raw((alias) => `${alias} % 2 = :rest`, { rest: 1 }) })).toEqual(['Bob', 'ada2']);
    expect(
      await by({ createdAt: Between(new Date(Date.now() - 60_000), new Date(Date.now() + 1000)) }),
    ).toHaveLength(4);
    expect(await by({ createdAt: MoreThan(new Date(Date.now() + 60_000)) })).toEqual([]);
  });

  it('counts, checks existence, and pages', async () => {
    for (let n = 1; n <= 7; n++) await make(`T${n}`, { likes: n });

    expect(await articles.exists({ where: { title: 'T3' } })).toBe(true);
    expect(await articles.existsBy({ title: 'T9' })).toBe(false);
    expect(await articles.countBy({ likes: MoreThan(3) })).toBe(4);
    expect([await articles.sum('likes'), await articles.maximum('likes')].map(Number)).toEqual([28, 7]);
    const [page, total] = await articles.findAndCount({
      order: { likes: 'DESC' },
      skip: 2,
      take: 2,
      select: { id: true, title: true },
    });
    expect([page.map(({ title }) => title), total]).toEqual([['T5', 'T4'], 7]);
  });

  it('supports query builders', async () => {
    await articles
      .createQueryBuilder()
      .insert()
      .values([
        { title: 'A', likes: 1 },
        { title: 'B', likes: 2 },
      ])
      .execute();
    await articles
      .createQueryBuilder()
      .update()
      .set({ likes: () => 'likes + 10' })
      .where('title = :title', { title: 'A' })
      .execute();
    const { affected } = await articles
      .createQueryBuilder()
      .delete()
      .where('likes = :likes', { likes: 2 })
      .execute();

    expect(affected).toBe(1);
    const raw = await articles
      .createQueryBuilder('article')
      .select('article.title', 'title')
      .addSelect('SUM(article.likes)', 'likes')
      .groupBy('article.title')
      .having('SUM(article.likes) > :least', { least: 5 })
      .getRawMany();
    expect(raw.map(({ title, likes }) => [title, Number(likes)])).toEqual([['A', 11]]);
    const nested = await articles
      .createQueryBuilder('article')
      .where(
        (qb) =>
          `article.id IN ${qb.subQuery().select('other.id').from(Article, 'other').where('other.likes = 11').getQuery()}`,
      )
      .getMany();
    expect(titles(nested)).toEqual(['A']);
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
    expect(await articles.update({ title: 'B' }, { hidden: true })).toMatchObject({ affected: 1 });

    expect(await articles.find({ order: { title: 'ASC' } })).toMatchObject([
      { title: 'A', likes: 15 },
      { title: 'B', likes: 0, hidden: true },
    ]);
  });

  it('supports soft deletion', async () => {
    const { id } = await make('A');
    await articles.softDelete({ id });
    expect(await articles.findOneBy({ id })).toBeNull();
    const deleted = await articles.findOneOrFail({ where: { id }, withDeleted: true });
    expect(Math.abs(deleted.deletedAt!.getTime() - Date.now())).toBeLessThan(5000);
    await articles.restore({ id });
    expect(await articles.findOneBy({ id })).toMatchObject({ title: 'A', deletedAt: null });
  });

  it('supports optimistic locking', async () => {
    const { id } = await make('A');
    const read = (version: number) =>
      articles.findOneOrFail({ where: { id }, lock: { mode: 'optimistic', version } });

    expect(await read(1)).toMatchObject({ id });
    await expect(read(2)).rejects.toThrow(/version/);
  });

  it('supports view entities', async () => {
    await make('A', { likes: 10 });
    await make('B', { likes: 11 });

    expect(await source.getRepository(PopularArticle).find()).toEqual([{ title: 'B', likes: 11 }]);
  });

  it('supports custom repositories, by extend and by a class', async () => {
    await make('A', { likes: 1 });
    await make('B');
    const extended = articles.extend({
      findByTitle(title: string) {
        return this.findOneBy({ title });
      },
    });

    expect(await extended.findByTitle('B')).toMatchObject({ title: 'B' });
    expect(titles(await api.app.get(ArticlesRepository).findLiked())).toEqual(['A']);
    await source.transaction(async (manager) => {
      const own = manager.withRepository(extended);
      await own.save({ title: 'C' });
      expect(await own.findByTitle('C')).toMatchObject({ title: 'C' });
      expect(await extended.findByTitle('C')).toBeNull();
    });
  });

  it('supports active record', async () => {
    const user = await ActiveUser.create({ name: 'Ada' }).save();

    expect(await ActiveUser.findOneByOrFail({ id: user.id })).toMatchObject({ name: 'Ada' });
    await user.remove();
    expect(await ActiveUser.count()).toBe(0);
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
