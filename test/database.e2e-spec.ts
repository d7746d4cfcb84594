import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { commandDataSource } from '../src/database/data-source.js';
import { Database } from '../src/database/database.js';
import { migrate } from '../src/database/migrate.js';
import { migrations } from '../src/database/migrations/index.js';
import { Post } from '../src/posts/post.entity.js';
import { User } from '../src/users/user.entity.js';
import { startApi, type TestApi } from './support/api.js';
import { createStore, STORES } from './support/stores.js';
import { loadConfig } from '../src/config/load-config.js';

describe.each(STORES)('the database on %s', (store) => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi(store);
  });
  afterAll(() => api.stop());

  it('has the schema that the entities describe: nothing would have to change', async () => {
    const { upQueries } = await api.app.get(Database).source.driver.createSchemaBuilder().log();

    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('has the constant author', async () => {
    const users: Repository<User> = api.app.get(getRepositoryToken(User));

    expect(await users.findOneByOrFail({ id: 1 })).toMatchObject({ id: 1, name: 'Author', email: '' });
  });

  it('gives entities numbers and dates', async () => {
    const { id, created_at } = await api.posts.create();
    const posts: Repository<Post> = api.app.get(getRepositoryToken(Post));

    const post = await posts.findOneOrFail({ where: { id }, relations: { author: true } });

    expect(post).toMatchObject({ id, authorId: 1, views: 0, createdAt: new Date(created_at) });
    expect(post.author).toMatchObject({ id: 1, name: 'Author' });
  });

  it('takes entities, with their times to the millisecond', async () => {
    const createdAt = new Date('2026-01-02T03:04:05.678Z');
    const { transactions, queries } = api.app.get(Database);

    const { id } = await transactions.run((manager) =>
      manager.save(User, { name: 'Ada', email: '', createdAt, updatedAt: createdAt }),
    );

    expect(await queries.one('SELECT id, created_at FROM users WHERE id = :id', { id })).toEqual({
      id,
      created_at: createdAt.toISOString(),
    });
  });

  it('has migrations that can be taken back and run again', async () => {
    const { environment, ...testStore } = await createStore(store);
    const config = loadConfig(environment);
    expect(await migrate(config)).toEqual(migrations.map(({ name }) => name));

    const source = await commandDataSource(config).initialize();
    for (const _ of migrations) await source.undoLastMigration({ transaction: 'all' });
    await source.destroy();

    expect(await migrate(config)).toHaveLength(migrations.length);
    expect(await migrate(config)).toEqual([]);
    await testStore.remove();
  });

  it('is migrated once when many processes start together', async () => {
    const { environment, ...testStore } = await createStore(store);
    const config = loadConfig(environment);
    const starts = store === 'SQLite' ? 1 : 8;

    const ran = await Promise.all(Array.from({ length: starts }, () => migrate(config)));

    expect(ran.flat()).toEqual(migrations.map(({ name }) => name));
    await testStore.remove();
  });
});

it('on SQLite, a write past the door fails at once', async () => {
  const api = await startApi('SQLite');
  const posts: Repository<Post> = api.app.get(getRepositoryToken(Post));

  await expect(posts.increment({ id: 1 }, 'views', 1)).rejects.toThrow('readonly database');
  await api.stop();
});
