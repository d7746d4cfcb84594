import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from './load-config.js';
import { describeStore } from './store.js';

describe('the database settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'));
  const DATA_DIR = join(folder, 'data');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('read the PostgreSQL connection from DATABASE_URL', () => {
    const url = 'postgres://user:pass@db.example:5432/posts';

    expect(loadConfig({ DATA_DIR, DATABASE_URL: url, DATABASE_POOL_SIZE: '7' }).store).toEqual({
      kind: 'postgres',
      url,
      poolSize: 7,
      pooled: false,
      preparedStatements: true,
    });
  });

  it.each([
    'postgres://user@/posts?host=/var/run/postgresql',
    'postgresql://user:p%40ss@/posts?host=/var/run/postgresql&port=5433',
    'postgres://user@%2Fvar%2Frun%2Fpostgresql/posts',
  ])('accept a socket: %s', (url) => {
    expect(loadConfig({ DATA_DIR, DATABASE_URL: url }).store).toMatchObject({ url });
  });

  it('are described without the user and the password', () => {
    const description = (url: string) => describeStore(loadConfig({ DATA_DIR, DATABASE_URL: url }).store);

    expect(description('postgres://user:secret@db.example:5433/posts')).toBe(
      'PostgreSQL at db.example:5433/posts',
    );
    expect(description('postgres://user:secret@/posts?host=/run/postgresql')).toBe(
      'PostgreSQL at /run/postgresql/posts',
    );
  });

  it.each([
    'postgres://user@a.example:5432,b.example:5433/posts',
    'postgres://user@a.example,b.example/posts',
    'postgres://user@/posts?host=a.example,b.example',
  ])('reject several servers: %s', (url) => {
    expect(() => loadConfig({ DATA_DIR, DATABASE_URL: url })).toThrow(
      'DATABASE_URL must be one PostgreSQL address',
    );
  });

  it('reject an sslmode that the driver does not know, which it would ignore', () => {
    const url = 'postgres://user@db/posts?sslmode=verify_full';
    const known =
      'must have no sslmode, or one of disable, prefer, require, verify-ca, verify-full, no-verify';

    expect(() => loadConfig({ DATA_DIR, DATABASE_URL: url })).toThrow(`DATABASE_URL ${known}`);
  });

  it('turn prepared statements off behind a pooler, unless they are set to on', () => {
    const pooled = { DATA_DIR, DATABASE_URL: 'postgres://user@db/posts', DATABASE_POOLER: 'transaction' };

    expect(loadConfig(pooled).store).toMatchObject({ pooled: true, preparedStatements: false });
    expect(loadConfig({ ...pooled, DATABASE_PREPARED_STATEMENTS: 'on' }).store).toMatchObject({
      pooled: true,
      preparedStatements: true,
    });
  });
});
