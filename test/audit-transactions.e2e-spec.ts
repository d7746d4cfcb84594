import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Body, Controller, Delete, Injectable, Module, Param, Patch, Post, Put } from '@nestjs/common';
import { Args, ID, Mutation, Resolver } from '@nestjs/graphql';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Column, DataSource, Entity, type EntityManager, PrimaryGeneratedColumn, Repository } from 'typeorm';
import { AppError } from '../src/platform/http/errors/errors.js';
import { runWithoutTrail } from '../src/platform/http/audit-trail.js';
import { Id } from '../src/platform/http/validation/id.js';
import { Transactions } from '../src/platform/database/transactions.js';
import { bearer, type Reply, startApi, type TestApi } from './support/api.js';
import { statementsOf } from './support/statements.js';
import { STORES, type StoreName } from './support/stores.js';

@Entity('audited_notes')
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  text!: string;
}

/** Each way to write, without the audit log and without events. */
@Injectable()
class NotesService {
  constructor(
    @InjectRepository(Note) readonly notes: Repository<Note>,
    readonly source: DataSource,
    readonly transactions: Transactions,
  ) {}

  ways(): Record<string, (id: number, text: string) => Promise<unknown>> {
    const { notes, source, transactions } = this;
    return {
      save: (id, text) => notes.save({ id, text }),
      update: (id, text) => notes.update(id, { text }),
      builder: (id, text) => notes.createQueryBuilder().update().set({ text }).where({ id }).execute(),
      query: (id, text) => source.query(`UPDATE audited_notes SET text = '${text}' WHERE id = ${id}`),
      execute: (id, text) =>
        transactions.execute('UPDATE audited_notes SET text = :text WHERE id = :id', { id, text }),
      run: (id, text) => transactions.run(() => notes.update(id, { text })),
      transaction: (id, text) => source.transaction((manager) => manager.update(Note, id, { text })),
      runner: async (id, text) => {
        const runner = source.createQueryRunner();
        try {
          await runner.startTransaction();
          await runner.manager.update(Note, id, { text });
          await runner.commitTransaction();
        } finally {
          await runner.release();
        }
      },
      twoAtOnceByOneRunner: async (id, text) => {
        const runner = source.createQueryRunner();
        const both = [1, 2].map(() => runner.manager.update(Note, id, { text }));
        await Promise.allSettled(both).then(() => runner.release());
        await Promise.all(both);
      },
    };
  }
}

@Controller('notes')
class NotesController {
  constructor(private readonly service: NotesService) {}

  @Post()
  create(@Body() { text }: { text: string }) {
    return this.service.notes.save({ text });
  }

  @Post('insert')
  insert(@Body() { text }: { text: string }) {
    return this.service.notes.insert({ text });
  }

  @Put(':id')
  replace(@Id() id: number, @Body() { text }: { text: string }) {
    return this.service.notes.update(id, { text });
  }

  @Patch(':id/:way')
  async change(@Id() id: number, @Param('way') way: string, @Body() { text }: { text: string }) {
    await this.service.ways()[way]!(id, text);
    return {};
  }

  @Delete(':id')
  async remove(@Id() id: number) {
    const { affected } = await this.service.notes.delete(id);
    if (affected === 0) throw new AppError('NOT_FOUND', 'Note not found');
    return {};
  }

  /** Counts outside of the audit log, and then rejects the request. */
  @Post(':id/reject')
  async reject(@Id() id: number) {
    await runWithoutTrail(() => this.service.notes.update(id, { text: 'counted' }));
    throw new AppError('CONFLICT', 'No');
  }

  @Post('rollback')
  rollback() {
    return this.service.transactions.run(async () => {
      await this.service.notes.insert({ text: 'gone' });
      throw new AppError('CONFLICT', 'No');
    });
  }

  /** Succeeds after a change that was rolled back to a savepoint. */
  @Post(':id/savepoint/:way')
  async savepoint(@Id() id: number, @Param('way') way: string) {
    const { source, transactions, notes } = this.service;
    const work = async (manager: EntityManager) => {
      const nested = manager.transaction(async (inner) => {
        await inner.update(Note, id, { text: 'gone' });
        throw new AppError('CONFLICT', 'No');
      });
      await nested.catch(() => 'never mind');
      transactions.addSubject('/notes/unchanged');
    };
    await (way === 'run' ? transactions.run(work) : source.transaction(work));
    if (way === 'both') await notes.update(id, { text: 'changed' });
    throw new AppError('CONFLICT', 'No');
  }

  @Post('nothing')
  nothing() {
    return {};
  }
}

@Resolver()
class NotesResolver {
  constructor(private readonly service: NotesService) {}

  @Mutation(() => Boolean)
  async renameNote(@Args('id', { type: () => ID }) id: string, @Args('text') text: string) {
    await this.service.notes.update(Number(id), { text });
    return true;
  }

  @Mutation(() => Boolean)
  async nameNote(@Args('id', { type: () => ID }) id: string, @Args('text') text: string) {
    const { transactions, notes } = this.service;
    await transactions.run(async () => {
      transactions.addSubject(`/notes/${id}`);
      await notes.update(Number(id), { text });
      if (text === 'bad') throw new AppError('CONFLICT', 'No');
    });
    return true;
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([Note])],
  controllers: [NotesController],
  providers: [NotesService, NotesResolver],
})
class NotesModule {}

const NOTES: Readonly<Record<StoreName, string>> = {
  SQLite: 'CREATE TABLE audited_notes (id integer PRIMARY KEY AUTOINCREMENT NOT NULL, text varchar NOT NULL)',
  PostgreSQL: 'CREATE TABLE audited_notes (id serial PRIMARY KEY, text varchar NOT NULL)',
};

const WAYS = Object.keys(new NotesService({} as never, {} as never, {} as never).ways());

describe.each(STORES)('an entry of the audit log on %s', (store) => {
  let api: TestApi;
  let staff: Record<string, string>;
  let transactions: Transactions;
  beforeAll(async () => {
    api = await startApi(store, { WRITE_ACCESS: 'authenticated' }, [NotesModule]);
    transactions = api.app.get(Transactions);
    await transactions.execute(NOTES[store]);
    await transactions.execute(`INSERT INTO audited_notes (text) VALUES ('first')`);
    await api.accounts.register('staff@example.com');
    await api.accounts.admin().setStaff('staff@example.com', true);
    staff = bearer((await api.accounts.login('staff@example.com')).access);
  });
  afterAll(() => api.stop());

  const entries = async (): Promise<any[]> => (await api.get('/v1/audit?limit=100', staff)).body.data;
  const subjectsOf = async (reply: Pick<Reply, 'headers'>): Promise<string[]> =>
    (await entries())
      .filter(({ request_id }) => request_id === reply.headers['x-request-id'])
      .map(({ subject }) => subject)
      .toReversed();
  const textOf = async (id: number) => (await api.app.get(NotesService).notes.findOneBy({ id }))?.text;

  /** Sends the request target unchanged. */
  const patch = async (path: string): Promise<Pick<Reply, 'status' | 'headers'>> => {
    if (!api.app.getHttpServer().listening) await api.app.listen(0, '127.0.0.1');
    const { port } = api.app.getHttpServer().address() as AddressInfo;
    const headers = { ...staff, 'content-type': 'application/json' };
    const sent = request({ port, host: '127.0.0.1', method: 'PATCH', path, headers }).end('{"text":"x"}');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return { status: response.statusCode!, headers: response.headers as Reply['headers'] };
  };

  it.each(WAYS)('exists once for a change by %s', async (way) => {
    const reply = await api.patch(`/notes/1/${way}`, { text: `by ${way}` }, staff);

    expect(reply).toHaveStatus(200);
    expect(await textOf(1)).toBe(`by ${way}`);
    expect(await subjectsOf(reply)).toEqual([`/notes/1/${way}`]);
  });

  it.each(WAYS)('commits together with a change by %s, or not at all', async (way) => {
    const before = await textOf(1);
    await transactions.execute('ALTER TABLE audit_entries RENAME TO gone');
    const reply = await api.patch(`/notes/1/${way}`, { text: `lost by ${way}` }, staff);
    await transactions.execute('ALTER TABLE gone RENAME TO audit_entries');

    expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect(await textOf(1)).toBe(before);
  });

  it('names a created resource without events where the response has its id', async () => {
    const saved = await api.post('/notes', { text: 'a' }, staff);
    expect(await subjectsOf(saved)).toEqual([`/notes/${saved.body.id}`]);

    expect(await subjectsOf(await api.post('/notes/insert', { text: 'b' }, staff))).toEqual([
      '/notes/insert',
    ]);
  });

  it('names a resource by its canonical path', async () => {
    for (const id of ['1', '001', '+1', '%2B01']) {
      expect(await subjectsOf(await api.put(`/notes/${id}`, { text: id }, staff))).toEqual(['/notes/1']);
    }
    const { id } = (await api.post('/v1/posts', { title: 'T', content: 'C' }, staff)).body.data;
    for (const path of [`00${id}`, `+${id}/`]) {
      const reply = await api.patch(`/v1/posts/${path}`, { title: 'U' }, staff);
      expect(await subjectsOf(reply)).toEqual([`/v1/posts/${id}`]);
    }
  });

  it.each([
    '/%6eotes/1/%73ave',
    '/notes/1/save/',
    '/notes/1/save?x=/v1/posts/9#y',
    '/notes/1/save;/v1/posts/9',
    'http://other.example.com/notes/1/save',
  ])('names the same resource for another form of its path: %s', async (url) => {
    const reply = await patch(url);

    // Some forms are another path.
    expect([200, 404]).toContain(reply.status);
    expect(await subjectsOf(reply)).toEqual(reply.status === 200 ? ['/notes/1/save'] : []);
  });

  it('does not exist for a request that changed nothing, was rejected, rolled back, or only counted', async () => {
    expect(await subjectsOf(await api.delete('/notes/99999', staff))).toEqual([]);
    expect(await subjectsOf(await api.post('/notes/rollback', {}, staff))).toEqual([]);
    expect(await subjectsOf(await api.post('/notes/1/reject', {}, staff))).toEqual([]);
    expect(await textOf(1)).toBe('counted');

    const { id } = (await api.post('/v1/posts', { title: 'T', content: 'C' }, staff)).body.data;
    const other = { ...staff, 'if-match': '"other"' };
    for (const change of [{ title: 'U' }, { status: 'published' }]) {
      const reply = await api.patch(`/v1/posts/${id}`, change, other);
      expect(reply).toBeError('PRECONDITION_FAILED');
      expect(await subjectsOf(reply)).toEqual([]);
    }
  });

  it.each([
    ['run', []],
    ['transaction', []],
    ['both', ['/notes/1/savepoint/both']],
  ])('does not exist for a change that was rolled back to a savepoint: %s', async (way, subjects) => {
    const reply = await api.post(`/notes/1/savepoint/${way}`, {}, staff);

    expect(reply).toBeError('CONFLICT');
    expect(await subjectsOf(reply)).toEqual(subjects);
    expect(await textOf(1)).not.toBe('gone');
  });

  it('exists for a request that succeeded without a change in the database', async () => {
    expect(await subjectsOf(await api.post('/notes/nothing', {}, staff))).toEqual(['/notes/nothing']);
  });

  it('exists once for each change of a mutation, with the subject of REST', async () => {
    const created = await api.graphql(
      'mutation { createUser(input: { name: "B", email: "" }) { id } }',
      {},
      staff,
    );
    const user = `/v2/users/${created.body.data.createUser.id}`;
    expect(await subjectsOf(created)).toEqual([user]);
    expect(await subjectsOf(await api.patch(user, { name: 'C' }, staff))).toEqual([user]);
    expect(await subjectsOf(await api.patch(user.replace('v2', 'v1'), { name: 'D' }, staff))).toEqual([user]);

    const several = await api.graphql(
      `mutation { a: updateUser(id: "001", input: { name: "A" }) { id } b: updateUser(id: "1", input: { name: "B" }) { id }
        c: createUser(input: { name: "C", email: "" }) { id } }`,
      {},
      staff,
    );
    expect(await subjectsOf(several)).toEqual([
      '/v2/users/1',
      '/v2/users/1',
      `/v2/users/${several.body.data.c.id}`,
    ]);
  });

  it('exists once for a mutation without events, and has the subject that the transaction sets', async () => {
    const plain = await api.graphql('mutation { renameNote(id: 1, text: "x") }', {}, staff);
    expect(await subjectsOf(plain)).toEqual(['/graphql']);

    const named = await api.graphql(
      'mutation { a: nameNote(id: 1, text: "bad") b: nameNote(id: 1, text: "good") }',
      {},
      staff,
    );
    expect(named.body.errors ?? []).toHaveLength(1);
    expect(await subjectsOf(named)).toEqual([]);
    const both = await api.graphql('mutation { a: nameNote(id: 1, text: "y") }', {}, staff);
    expect(await subjectsOf(both)).toEqual(['/notes/1']);
  });
});

describe.each(STORES)('an anonymous write on %s', (store) => {
  it('adds no transaction and no audit entry', async () => {
    const api = await startApi(store, {}, []);
    await api.posts.create();
    const statements = await statementsOf(() => api.posts.create());

    expect(statements.filter((sql) => sql.includes('audit_entries'))).toEqual([]);
    // On SQLite, the transaction belongs to a group of writes, and not to the request.
    expect(statements.filter((sql) => /^(?:BEGIN|START|INSERT|WITH)/.test(sql))).toHaveLength(
      store === 'SQLite' ? 2 : 1,
    );
    await api.stop();
  });
});
