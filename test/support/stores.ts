import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';

/** Both databases; every promise to clients is tested on each. */
export const STORES = ['SQLite', 'PostgreSQL'] as const;
export type StoreName = (typeof STORES)[number];

/** An empty database of its own, as environment variables, and how to be rid of it. */
export interface TestStore {
  readonly environment: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

/** @param options how PostgreSQL is to make the database */
export async function createStore(name: StoreName, options = ''): Promise<TestStore> {
  const folder = await mkdtemp(join(tmpdir(), 'posts-api-'));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  if (name === 'SQLite') return { environment: { DATA_DIR: folder }, remove: removeFolder };

  const server = process.env['TEST_DATABASE_URL']!;
  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(server, `CREATE DATABASE ${database} ${options}`);
  const url = new URL(server);
  url.pathname = database;
  return {
    environment: { DATA_DIR: folder, DATABASE_URL: url.href },
    remove: async () => {
      await onServer(server, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
      await removeFolder();
    },
  };
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
