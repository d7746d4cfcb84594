/** https://typeorm.io, where units of work could differ: eager and lazy relations, cascades. */
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { beforeAll, expect, it } from '@jest/globals';
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
} from 'typeorm';
import { Transactions } from '../../../src/platform/database/transactions.js';
import { onEach } from '../../support/on-each.js';

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

@Module({ imports: [TypeOrmModule.forFeature([Profile, Writer, Book, Topic])] })
class LibraryModule {}

onEach('relations as in the TypeORM documentation', { modules: [LibraryModule] }, ({ api }) => {
  let source: DataSource;
  beforeAll(async () => {
    source = api.app.get(DataSource);
    await source.synchronize();
  });

  const makeWriter = (name: string) =>
    source.getRepository(Writer).save({
      name,
      profile: { photo: `${name}.jpg` },
      books: [
        { title: `${name} 1`, topics: [{ name: `${name} x` }, { name: `${name} y` }] },
        { title: `${name} 2`, topics: [] },
      ],
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
});
