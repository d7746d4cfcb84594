/** https://typeorm.io: relations, cascades, eager and lazy relations, trees. */
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Column,
  DataSource,
  Entity,
  JoinColumn,
  JoinTable,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  PrimaryGeneratedColumn,
  Tree,
  TreeChildren,
  TreeParent,
} from 'typeorm';
import { Transactions } from '../../../src/platform/database/transactions.js';
import type { TestApi } from '../../support/api.js';
import { STORES } from '../../support/stores.js';
import { startWithTables } from './start-with-tables.js';

@Entity()
class Profile {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  photo!: string;
}

@Entity()
class Writer {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @OneToOne(() => Profile, { cascade: true, eager: true, nullable: true })
  @JoinColumn()
  profile!: Profile | null;

  @OneToMany(() => Book, (book) => book.writer, { cascade: ['insert', 'update', 'remove'] })
  books!: Book[];
}

@Entity()
class Book {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column()
  title!: string;

  @ManyToOne(() => Writer, (writer) => writer.books, { onDelete: 'CASCADE' })
  writer!: Promise<Writer>;

  @ManyToMany(() => Topic, (topic) => topic.books, { cascade: true })
  @JoinTable()
  topics!: Topic[];
}

@Entity()
class Topic {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ unique: true })
  name!: string;

  @ManyToMany(() => Book, (book) => book.topics)
  books!: Book[];
}

function treeEntity(type: 'closure-table' | 'materialized-path', name: string) {
  @Entity(name)
  @Tree(type)
  class Node {
    @PrimaryGeneratedColumn()
    id!: number;

    @Column()
    name!: string;

    @TreeChildren()
    children!: Node[];

    @TreeParent()
    parent!: Node | null;
  }
  return Node;
}

const TREES = {
  'closure-table': treeEntity('closure-table', 'closure_node'),
  'materialized-path': treeEntity('materialized-path', 'path_node'),
};

@Module({ imports: [TypeOrmModule.forFeature([Profile, Writer, Book, Topic, ...Object.values(TREES)])] })
class LibraryModule {}

describe.each(STORES)('relations as in the TypeORM documentation, on %s', (store) => {
  let api: TestApi;
  let source: DataSource;
  beforeAll(async () => {
    api = await startWithTables(store, LibraryModule);
    source = api.app.get(DataSource);
  });
  afterAll(() => api.stop());

  const makeWriter = (name: string) =>
    source.getRepository(Writer).save({
      name,
      profile: { photo: `${name}.jpg` },
      books: [
        { title: `${name} 1`, topics: [{ name: `${name} x` }, { name: `${name} y` }] },
        { title: `${name} 2`, topics: [] },
      ],
    });

  it('saves one-to-one, one-to-many and many-to-many relations by cascades', async () => {
    const { id } = await makeWriter('Ada');

    const writer = await source.getRepository(Writer).findOneOrFail({
      where: { id },
      relations: { books: { topics: true } },
      order: { books: { title: 'ASC' } },
    });

    expect(writer.profile).toMatchObject({ photo: 'Ada.jpg' });
    expect(
      writer.books.map(({ title, topics }) => [title, topics.map(({ name }) => name).toSorted()]),
    ).toEqual([
      ['Ada 1', ['Ada x', 'Ada y']],
      ['Ada 2', []],
    ]);
    expect(writer.books[0]!.id).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('loads eager and lazy relations, also of entities read in a unit of work', async () => {
    const { id } = await makeWriter('Grace');
    const books = source.getRepository(Book);

    const outside = await books.findOneByOrFail({ title: 'Grace 1' });
    expect(await outside.writer).toMatchObject({ id, profile: { photo: 'Grace.jpg' } });

    const inside = await api.app.get(Transactions).run(async () => {
      await books.update({ title: 'Grace 2' }, { title: 'Grace 3' });
      const [read, later] = await books.find({
        where: [{ title: 'Grace 1' }, { title: 'Grace 3' }],
        order: { title: 'ASC' },
      });
      expect(await read!.writer).toMatchObject({ id });
      return later!;
    });
    expect(await inside.writer).toMatchObject({ id });
  });

  it('supports the relation query builder, relation ids, and removal with cascades', async () => {
    const { id } = await makeWriter('Mary');
    const book = await source.getRepository(Book).findOneByOrFail({ title: 'Mary 2' });
    const topic = await source.getRepository(Topic).save({ name: 'Mary z' });
    await source.createQueryBuilder().relation(Book, 'topics').of(book).add(topic);

    const { topics } = await source
      .getRepository(Book)
      .findOneOrFail({ where: { id: book.id }, relations: { topics: true } });
    expect(topics).toMatchObject([{ name: 'Mary z' }]);

    await source.getRepository(Writer).delete({ id });
    expect(await source.getRepository(Book).countBy({ title: 'Mary 1' })).toBe(0);
  });

  it('rolls back the writes of cascades with the rest', async () => {
    const before = await source.getRepository(Topic).count();
    const twins = {
      name: 'Twins',
      profile: null,
      books: [{ title: 'T', topics: [{ name: 'same' }, { name: 'same' }] }],
    };

    await expect(source.getRepository(Writer).save(twins)).rejects.toThrow(/unique/i);

    expect(await source.getRepository(Topic).count()).toBe(before);
    expect(await source.getRepository(Writer).countBy({ name: 'Twins' })).toBe(0);
  });

  it.each(Object.keys(TREES) as (keyof typeof TREES)[])('supports tree entities: %s', async (type) => {
    const trees = source.getTreeRepository(TREES[type]);
    const root = await trees.save({ name: 'root' });
    const child = await trees.save({ name: 'child', parent: root });
    await trees.save({ name: 'leaf', parent: child });

    expect(await trees.findTrees()).toMatchObject([
      { name: 'root', children: [{ name: 'child', children: [{ name: 'leaf', children: [] }] }] },
    ]);
    expect(await trees.countDescendants(root)).toBe(3);
    expect((await trees.findAncestors(child)).map(({ name }) => name).toSorted()).toEqual(['child', 'root']);
  });
});
