import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Body, Controller, Injectable, Module, Param, Patch, Post, Put } from '@nestjs/common';
import { Args, ID, Mutation, Resolver } from '@nestjs/graphql';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { beforeAll, expect, it } from '@jest/globals';
import { Column, DataSource, Entity, PrimaryGeneratedColumn, Repository } from 'typeorm';
import { Changes } from '../platform/changes/index.js';
import { AppError } from '../platform/http/errors/errors.js';
import { Id } from '../platform/http/validation/id.js';
import { Transactions } from '../platform/database/transactions.js';
import { type Reply } from '../../test/support/api.js';
import { FixtureModule } from '../../test/support/fixture.module.js';
import { onEach } from '../../test/support/on-each.js';
import { type StoreName } from '../../test/support/stores.js';

// Other tests of the process have no such table, which a process that is ready would lack.
@Entity('audited_notes', { synchronize: false })
class Note {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  text!: string;
}

/** Each way to write, by a module without events. */
@Injectable()
class NotesService {
  constructor(
    @InjectRepository(Note) readonly notes: Repository<Note>,
    readonly source: DataSource,
    readonly transactions: Transactions,
    readonly changes: Changes,
  ) {}

  ways(): Record<string, (id: number, text: string) => Promise<unknown>> {
    const { notes, source, transactions } = this;
    return {
      save: (id, text) => notes.save({ id, text }),
      update: (id, text) => notes.update(id, { text }),
      builder: (id, text) => notes.createQueryBuilder().update().set({ text }).where({ id }).execute(),
      query: (id, text) => source.query(`UPDATE audited_notes SET text = '${text}' WHERE id = ${id}`),
      comment: (id, text) =>
        source.query(`/* a note */ UPDATE audited_notes SET text = '${text}' WHERE id = ${id}`),
      execute: (id, text) =>
        transactions.execute('UPDATE audited_notes SET text = :text WHERE id = :id', { id, text }),
      run: (id, text) => transactions.run(() => notes.update(id, { text })),
      transaction: (id, text) => source.transaction((manager) => manager.update(Note, id, { text })),
    };
  }

  change(way: string, id: number, text: string): Promise<void> {
    return this.transactions.run(async () => {
      await this.ways()[way]!(id, text);
      await this.changes.record({ subject: `/notes/${id}` });
    });
  }

  /** Of two rows, it names the first. */
  create(text: string): Promise<Note> {
    return this.transactions.run(async () => {
      const note = await this.notes.save({ text });
      await this.notes.save({ text: 'Its copy' });
      await this.changes.record({ subject: `/notes/${note.id}` });
      return note;
    });
  }
}

@Controller('notes')
class NotesController {
  constructor(private readonly service: NotesService) {}

  @Post()
  create(@Body() { text }: { text: string }) {
    return this.service.create(text);
  }

  /** Names the path of the request. */
  @Put(':id')
  async replace(@Id() id: number, @Body() { text }: { text: string }) {
    const { transactions, notes, changes } = this.service;
    await transactions.run(async () => {
      await notes.update(id, { text });
      await changes.record();
    });
    return {};
  }

  @Patch(':id/:way')
  async change(@Id() id: number, @Param('way') way: string, @Body() { text }: { text: string }) {
    await this.service.change(way, id, text);
    return {};
  }

  @Post('rollback')
  rollback() {
    return this.service.transactions.run(async () => {
      await this.service.create('gone');
      throw new AppError('CONFLICT', 'No');
    });
  }

  /** Writes, and then rejects the request. */
  @Post(':id/reject')
  async reject(@Id() id: number) {
    await this.service.change('update', id, 'kept');
    throw new AppError('CONFLICT', 'No');
  }

  /** Records a change and its subject in a savepoint that is rolled back; the work around it may record its own. */
  @Post(':id/savepoint/:outer')
  async savepoint(@Id() id: number, @Param('outer') outer: string) {
    const { source, transactions } = this.service;
    await transactions.run(async () => {
      const nested = source.transaction(async () => {
        await this.service.change('update', id, 'gone');
        throw new AppError('CONFLICT', 'No');
      });
      await nested.catch(() => 'never mind');
      if (outer === 'changed') await this.service.change('update', id, 'changed');
    });
    return {};
  }

  /** Has a conflict after its first attempt. */
  @Post(':id/retry')
  async retry(@Id() id: number) {
    let attempts = 0;
    await this.service.transactions.run(async () => {
      await this.service.change('update', id, 'retried');
      if (++attempts < 3) throw Object.assign(new Error('conflict'), { code: '40001' });
    });
    return { attempts };
  }

  @Post('outside')
  async outside() {
    await this.service.changes.record({ subject: '/notes' });
  }
}

@Resolver()
class NotesResolver {
  constructor(private readonly service: NotesService) {}

  @Mutation(() => Boolean)
  async renameNote(@Args('id', { type: () => ID }) id: string, @Args('text') text: string) {
    await this.service.transactions.run(async () => {
      await this.service.change('update', Number(id), text);
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

const WAYS = Object.keys(new NotesService({} as never, {} as never, {} as never, {} as never).ways());

const OPTIONS = { settings: { WRITE_ACCESS: 'authenticated' }, modules: [NotesModule, FixtureModule] };
onEach('an entry of the audit log', OPTIONS, ({ api, store }) => {
  let staff: Record<string, string>;
  let transactions: Transactions;
  beforeAll(async () => {
    transactions = api.app.get(Transactions);
    await transactions.execute(NOTES[store]);
    await transactions.execute(`INSERT INTO audited_notes (text) VALUES ('first')`);
    staff = await api.accounts.logInNewStaff();
  });

  const entries = async (): Promise<any[]> => (await api.get('/v1/audit?limit=100', staff)).body.data;
  const subjectsOf = async (reply: Pick<Reply, 'headers'>): Promise<string[]> =>
    (await entries())
      .filter(({ request_id }) => request_id === reply.headers['x-request-id'])
      .map(({ subject }) => subject)
      .toReversed();
  const textOf = async (id: number) => (await api.app.get(NotesService).notes.findOneBy({ id }))?.text;

  /** Sends the request target unchanged. */
  const put = async (path: string): Promise<Pick<Reply, 'status' | 'headers'>> => {
    if (!api.app.getHttpServer().listening) await api.listen();
    const { port } = api.app.getHttpServer().address() as AddressInfo;
    const headers = { ...staff, 'content-type': 'application/json' };
    const sent = request({ port, host: '127.0.0.1', method: 'PUT', path, headers }).end('{"text":"x"}');
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return { status: response.statusCode!, headers: response.headers as Reply['headers'] };
  };

  it.each(WAYS)('exists once for a change by %s', async (way) => {
    const reply = await api.patch(`/notes/1/${way}`, { text: `by ${way}` }, staff);

    expect(reply).toHaveStatus(200);
    expect(await textOf(1)).toBe(`by ${way}`);
    expect(await subjectsOf(reply)).toEqual(['/notes/1']);
  });

  it.each(WAYS)('commits together with a change by %s, or not at all', async (way) => {
    const before = await textOf(1);
    await transactions.execute('ALTER TABLE audit_entries RENAME TO gone');
    const reply = await api.patch(`/notes/1/${way}`, { text: `lost by ${way}` }, staff);
    await transactions.execute('ALTER TABLE gone RENAME TO audit_entries');

    expect(reply).toBeError('SERVICE_UNAVAILABLE');
    expect(await textOf(1)).toBe(before);
  });

  it('names what the service says, whatever else was inserted', async () => {
    const saved = await api.post('/notes', { text: 'a' }, staff);
    expect(await subjectsOf(saved)).toEqual([`/notes/${saved.body.id}`]);
  });

  it('names a resource by its canonical path', async () => {
    for (const id of ['1', '001', '+1', '%2B01']) {
      expect(await subjectsOf(await api.patch(`/notes/${id}/save`, { text: id }, staff))).toEqual([
        '/notes/1',
      ]);
    }
    const { id } = (await api.post('/v1/dummies', { text: 'T' }, staff)).body.data;
    for (const path of [`00${id}`, `+${id}/`]) {
      const reply = await api.patch(`/v1/dummies/${path}`, { text: 'U' }, staff);
      expect(await subjectsOf(reply)).toEqual([`/v1/dummies/${id}`]);
    }
  });

  it.each([
    '/%6eotes/%31',
    '/notes/1/',
    '/notes/1?x=/v1/dummies/9#y',
    '/notes/1;/v1/dummies/9',
    'http://other.example.com/notes/1',
  ])('names the same path for another form of it, if the service names none: %s', async (url) => {
    const reply = await put(url);

    // Some forms are another path.
    expect([200, 400, 404]).toContain(reply.status);
    expect(await subjectsOf(reply)).toEqual(reply.status === 200 ? ['/notes/1'] : []);
  });

  it('does not exist for a request that changed nothing, was rejected or rolled back', async () => {
    expect(await subjectsOf(await api.post('/notes/rollback', {}, staff))).toEqual([]);

    const { id } = (await api.post('/v1/dummies', { text: 'T' }, staff)).body.data;
    const other = { ...staff, 'if-match': '"other"' };
    for (const change of [{ text: 'U' }, { status: 'done' }]) {
      const reply = await api.patch(`/v1/dummies/${id}`, change, other);
      expect(reply).toBeError('PRECONDITION_FAILED');
      expect(await subjectsOf(reply)).toEqual([]);
    }
  });

  it('remains with its change if the handler rejects the request afterwards', async () => {
    const reply = await api.post('/notes/1/reject', {}, staff);

    expect(reply).toBeError('CONFLICT');
    expect(await textOf(1)).toBe('kept');
    expect(await subjectsOf(reply)).toEqual(['/notes/1']);
  });

  it.each([
    ['unchanged', []],
    ['changed', ['/notes/1']],
  ])('does not exist for a change that was rolled back to a savepoint: %s', async (outer, subjects) => {
    const reply = await api.post(`/notes/1/savepoint/${outer}`, {}, staff);

    expect(reply).toHaveStatus(201);
    expect(await subjectsOf(reply)).toEqual(subjects);
    expect(await textOf(1)).not.toBe('gone');
  });

  it('exists once for a unit of work that runs again after conflicts', async () => {
    const reply = await api.post('/notes/1/retry', {}, staff);

    expect(reply.body).toEqual({ attempts: 3 });
    expect(await subjectsOf(reply)).toEqual(['/notes/1']);
  });

  it('cannot be recorded outside of a unit of work', async () => {
    const reply = await api.post('/notes/outside', {}, staff);

    expect(reply).toBeError('INTERNAL_ERROR');
    expect(await subjectsOf(reply)).toEqual([]);
  });

  it('exists once for each change of a mutation, with the subject of REST', async () => {
    const created = await api.graphql('mutation { createDummy(input: { text: "B" }) { id } }', {}, staff);
    const { id } = created.body.data.createDummy;
    const dummy = `/v1/dummies/${id}`;
    expect(await subjectsOf(created)).toEqual([dummy]);
    expect(await subjectsOf(await api.patch(dummy, { text: 'C' }, staff))).toEqual([dummy]);
    expect(await subjectsOf(await api.put(dummy, { text: 'D' }, staff))).toEqual([dummy]);

    const several = await api.graphql(
      `mutation { a: updateDummy(id: "00${id}", input: { text: "A" }) { id } b: updateDummy(id: "${id}", input: { text: "B" }) { id }
        c: createDummy(input: { text: "C" }) { id } }`,
      {},
      staff,
    );
    expect(await subjectsOf(several)).toEqual([dummy, dummy, `/v1/dummies/${several.body.data.c.id}`]);
  });

  it('exists once for a mutation without events, and not for one that fails', async () => {
    const failed = await api.graphql(
      'mutation { a: renameNote(id: 1, text: "bad") b: renameNote(id: 1, text: "good") }',
      {},
      staff,
    );
    expect(failed.body.errors ?? []).toHaveLength(1);
    expect(await subjectsOf(failed)).toEqual([]);
    const renamed = await api.graphql('mutation { a: renameNote(id: 1, text: "y") }', {}, staff);
    expect(await subjectsOf(renamed)).toEqual(['/notes/1']);
  });
});
