/** https://docs.nestjs.com/techniques/database, unchanged. */
import { Injectable, Module, Scope } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { beforeAll, beforeEach, expect, it } from '@jest/globals';
import {
  Column,
  DataSource,
  Entity,
  type EntitySubscriberInterface,
  EventSubscriber,
  type InsertEvent,
  ManyToOne,
  OneToMany,
  PrimaryGeneratedColumn,
  Repository,
} from 'typeorm';
import { startApi } from '../../support/api.js';
import { onEach } from '../../support/on-each.js';

@Entity()
class Person {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  firstName!: string;

  @Column()
  lastName!: string;

  @Column({ default: true })
  isActive!: boolean;

  @Column({ type: 'int', nullable: true })
  age!: number | null;

  @OneToMany(() => Photo, (photo) => photo.person)
  photos!: Photo[];
}

@Entity()
class Photo {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  url!: string;

  @ManyToOne(() => Person, (person) => person.photos)
  person!: Person;
}

@Injectable()
class PeopleService {
  constructor(
    @InjectRepository(Person) private readonly people: Repository<Person>,
    private readonly dataSource: DataSource,
  ) {}

  create({ firstName, lastName }: Pick<Person, 'firstName' | 'lastName'>): Promise<Person> {
    const person = new Person();
    person.firstName = firstName;
    person.lastName = lastName;
    return this.people.save(person);
  }

  findAll(): Promise<Person[]> {
    return this.people.find();
  }

  async createManyByRunner(people: Partial<Person>[]): Promise<void> {
    const queryRunner = this.dataSource.createQueryRunner();

    await queryRunner.connect();
    await queryRunner.startTransaction();
    try {
      for (const person of people) await queryRunner.manager.save(Person, person);

      await queryRunner.commitTransaction();
    } catch (error) {
      // since we have errors lets rollback the changes we made
      await queryRunner.rollbackTransaction();
      throw error;
    } finally {
      // you need to release a queryRunner which was manually instantiated
      await queryRunner.release();
    }
  }

  async createManyByTransaction(people: Partial<Person>[]): Promise<void> {
    await this.dataSource.transaction(async (manager) => {
      for (const person of people) await manager.save(Person, person);
    });
  }
}

@EventSubscriber()
class PersonSubscriber implements EntitySubscriberInterface<Person> {
  readonly inserted: string[] = [];

  constructor(dataSource: DataSource) {
    dataSource.subscribers.push(this);
  }

  listenTo() {
    return Person;
  }

  beforeInsert(event: InsertEvent<Person>) {
    this.inserted.push(event.entity.firstName);
  }
}

/** As in the TypeORM documentation: it does not register itself. */
@EventSubscriber()
class PhotoSubscriber implements EntitySubscriberInterface<Photo> {
  listenTo() {
    return Photo;
  }

  async afterInsert({ manager, entity }: InsertEvent<Photo>): Promise<void> {
    await manager.insert(Person, { firstName: 'Made by', lastName: entity.url });
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Person, Photo])],
  providers: [PeopleService, PersonSubscriber, PhotoSubscriber],
  exports: [TypeOrmModule],
})
class PeopleModule {}

@Entity()
class Stray {
  @PrimaryGeneratedColumn()
  id!: number;
}

/** As in a module that the application does not import. */
TypeOrmModule.forFeature([Stray]);

@Injectable({ scope: Scope.REQUEST })
class ScopedSubscriber implements EntitySubscriberInterface {
  afterInsert(): void {}
}

@Module({ providers: [ScopedSubscriber] })
class ScopedModule {}

onEach('the database chapter of the Nest documentation', { modules: [PeopleModule] }, ({ api, store }) => {
  let people: PeopleService;
  let source: DataSource;
  beforeAll(async () => {
    people = api.app.get(PeopleService);
    source = api.app.get(DataSource);
    await source.synchronize();
  });
  beforeEach(async () => {
    await source.getRepository(Photo).deleteAll();
    await source.getRepository(Person).deleteAll();
  });

  const names = async () => (await people.findAll()).map(({ firstName }) => firstName);

  it.each(['createManyByRunner', 'createManyByTransaction'] as const)(
    'supports TypeORM transactions: %s',
    async (way) => {
      await people[way]([
        { firstName: 'Ada', lastName: 'Lovelace' },
        { firstName: 'Grace', lastName: 'Hopper' },
      ]);
      await expect(
        people[way]([{ firstName: 'Half', lastName: 'Done' }, { firstName: 'No last name' }]),
      ).rejects.toThrow(/null/i);

      expect((await names()).toSorted()).toEqual(['Ada', 'Grace']);
    },
  );

  it('calls subscribers that register themselves once', async () => {
    const { inserted } = api.app.get(PersonSubscriber);
    inserted.length = 0;

    await people.create({ firstName: 'Ada', lastName: 'Lovelace' });

    expect(inserted).toEqual(['Ada']);
  });

  it('calls other providers that are subscribers once, and they write in the transaction', async () => {
    expect(source.subscribers.filter((each) => each instanceof PhotoSubscriber)).toHaveLength(1);
    await source.getRepository(Photo).save({ url: 'a photo' });
    await source
      .transaction(async (manager) => {
        await manager.save(Photo, { url: 'gone' });
        throw new Error('No');
      })
      .catch(() => undefined);

    expect(await people.findAll()).toMatchObject([{ firstName: 'Made by', lastName: 'a photo' }]);
  });

  it('does not commit a transaction after a failed statement of a subscriber, even if it ignores the error', async () => {
    const ignoring: EntitySubscriberInterface = {
      beforeTransactionCommit: ({ queryRunner }) =>
        queryRunner.query('INSERT INTO no_such_table VALUES (1)').catch(() => 'never mind'),
    };
    source.subscribers.push(ignoring);
    const write = people.createManyByTransaction([{ firstName: 'Ada', lastName: 'Lovelace' }]);
    await expect(write).rejects.toThrow(/no_such_table/);
    source.subscribers.splice(source.subscribers.indexOf(ignoring), 1);

    expect(await names()).toEqual([]);
  });

  it('commits no transaction if the subscribers of the service are removed', async () => {
    const all = source.subscribers.splice(0);
    const ada = [{ firstName: 'Ada', lastName: 'Lovelace' }];
    await expect(people.createManyByTransaction(ada)).rejects.toThrow(/TransactionSubscriber is missing/);
    source.subscribers.push(...all);

    expect(await names()).toEqual([]);
  });

  it('rejects a subscriber that would never be called', async () => {
    await expect(startApi(store, {}, [ScopedModule])).rejects.toThrow(
      'ScopedSubscriber is a subscriber of TypeORM, which must be a singleton',
    );
  });

  it('loads the entities of the modules of the application, and no others', () => {
    expect(source.hasMetadata(Photo)).toBe(true);
    expect(source.hasMetadata(Stray)).toBe(false);
  });
});
