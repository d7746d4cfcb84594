import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import type { StoreConfig } from '../../src/platform/config/store.ts';

export type StoreName = 'SQLite' | 'PostgreSQL';

const { databases } = JSON.parse(readFileSync('package.json', 'utf8')) as { databases: string[] };

/** The databases that the service supports: the behaviour towards clients is tested on each. */
export const STORES: readonly StoreName[] = databases.includes('sqlite')
  ? ['SQLite', 'PostgreSQL']
  : ['PostgreSQL'];

/** `describe` for what only the embedded database has: it is skipped if the service runs on PostgreSQL alone. */
export const ifEmbedded = <D extends { readonly skip: unknown }>(describe: D): D =>
  STORES.includes('SQLite') ? describe : (describe.skip as D);

/** For tests of what does not depend on the database. */
export const ANY_STORE = STORES[0]!;

/** A setting that an environment needs, if the service runs on PostgreSQL alone; no database is there. */
export const ANY_DATABASE: Readonly<Record<string, string>> = STORES.includes('SQLite')
  ? {}
  : { DATABASE_URL: 'postgres://nobody@localhost/nothing' };

/** The settings of a new database, and a function that removes it. */
export interface TestStore {
  readonly environment: Readonly<Record<string, string>>;
  remove(): Promise<void>;
}

interface StoreOptions {
  /** Whether to leave out the pooler, for what needs a connection of its own to the server. */
  readonly direct?: boolean;
  /** Whether to skip the migrations. Outside of the test suite, databases are always empty. */
  readonly empty?: boolean;
  /** Options of `CREATE DATABASE`. */
  readonly options?: string;
}

export async function createStore(
  name: StoreName,
  { empty = false, options = '', direct = false }: StoreOptions = {},
): Promise<TestStore> {
  const folder = await mkdtemp(join(tmpdir(), 'posts-api-'));
  const removeFolder = () => rm(folder, { recursive: true, force: true });
  const {
    TEST_TEMPLATE: file,
    TEST_TEMPLATE_DATABASE: template,
    TEST_DATABASE_URL: server = '',
    TEST_DATABASE_POOLER: pooler,
  } = process.env;
  if (name === 'SQLite') {
    if (file !== undefined && !empty) await copyFile(join(file, DATABASE), join(folder, DATABASE));
    return { environment: { DATA_DIR: folder }, remove: removeFolder };
  }

  const database = `test_${randomUUID().replaceAll('-', '')}`;
  await onServer(
    server,
    `CREATE DATABASE ${database} ${template !== undefined && !empty ? `TEMPLATE ${template}` : ''} ${options}`,
  );
  const isPooled = pooler !== undefined && !direct;
  const url = new URL(isPooled ? pooler : server);
  url.pathname = database;
  return {
    environment: {
      DATA_DIR: folder,
      DATABASE_URL: url.href,
      ...(isPooled && { DATABASE_POOLER: 'transaction' }),
    },
    remove: async () => {
      await onServer(server, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
      await removeFolder();
    },
  };
}

const DATABASE = 'database.sqlite';

/** The settings of a command that uses the database of a service. */
export const settingsOf = (store: StoreConfig['store']): Record<string, string> =>
  store.kind === 'sqlite'
    ? { DATA_DIR: store.directory }
    : { DATABASE_URL: store.url, DATABASE_POOLER: store.pooled ? 'transaction' : 'none' };

/** For what only the server itself does, and for commands that must be alone with the database. */
export const DIRECT = { direct: true } as const;

async function onServer(url: string, sql: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}
