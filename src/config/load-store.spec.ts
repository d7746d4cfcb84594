import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { loadConfig } from './load-config.js';

describe('the database settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'));
  const DATA_DIR = join(folder, 'data');
  afterAll(() => rmSync(folder, { recursive: true }));

  it('read the PostgreSQL connection from DATABASE_URL', () => {
    const url = 'postgres://user:pass@db.example:5432/posts';

    expect(loadConfig({ DATA_DIR, DATABASE_URL: url, DATABASE_POOL_SIZE: '7' }).store).toEqual({
      kind: 'postgres',
      url,
      servers: [],
      replicaUrls: [],
      poolSize: 7,
      pooled: false,
      preparedStatements: true,
    });
  });

  it.each([
    [
      'postgres://user:hunter2@a.example:5432,[::1]:5433/posts?sslmode=require&target_session_attrs=read-write',
      [
        'postgres://user:hunter2@a.example:5432/posts?sslmode=require',
        'postgres://user:hunter2@[::1]:5433/posts?sslmode=require',
      ],
    ],
    [
      'postgres://user:a%40b@a.example,b.example/posts',
      ['postgres://user:a%40b@a.example/posts', 'postgres://user:a%40b@b.example/posts'],
    ],
    [
      'postgresql://user@a.example/posts?target_session_attrs=primary&sslmode=disable',
      ['postgresql://user@a.example/posts?sslmode=disable'],
    ],
  ])('accept several PostgreSQL servers, or one that must be the primary: %s', (url, servers) => {
    expect(loadConfig({ DATA_DIR, DATABASE_URL: url }).store).toMatchObject({ url: servers[0], servers });
  });

  it('reject an sslmode that the driver does not know, which it would ignore', () => {
    const url = 'postgres://user@db/posts?sslmode=verify_full';
    const known =
      'must have no sslmode, or one of disable, prefer, require, verify-ca, verify-full, no-verify';

    expect(() => loadConfig({ DATA_DIR, DATABASE_URL: url })).toThrow(`DATABASE_URL ${known}`);
    const replicas = { DATABASE_URL: 'postgres://user@db/posts', DATABASE_REPLICA_URLS: url };
    expect(() => loadConfig({ DATA_DIR, ...replicas })).toThrow(`DATABASE_REPLICA_URLS ${known}`);
  });

  it('accept a list of read replicas, for PostgreSQL only', () => {
    const urls = ['postgres://user:hunter2@one/posts', 'postgres://user:hunter2@two/posts'];
    const replicas = { DATA_DIR, DATABASE_REPLICA_URLS: urls.join(', ') };

    expect(loadConfig({ ...replicas, DATABASE_URL: 'postgres://user@db/posts' }).store).toMatchObject({
      replicaUrls: urls,
    });
    expect(() => loadConfig(replicas)).toThrow(
      'DATABASE_REPLICA_URLS must be set together with DATABASE_URL',
    );
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
