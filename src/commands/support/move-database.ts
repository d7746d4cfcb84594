import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { PostgresStore } from '../../platform/config/config.js';
import { describeStore, loadStoreConfig, type StoreConfig } from '../../platform/config/store.js';
import { commandDataSource, isEmbedded } from '../../platform/database/data-source.js';
import { migrate } from '../../platform/database/migrate.js';
import type { PostgresClient } from '../../platform/database/postgres/client.js';
import { singleConnection } from '../../platform/database/postgres/pools.js';
import { databaseFile } from '../../platform/database/sqlite/data-source.js';
import { lockForService } from '../../platform/database/sqlite/file-lock.js';
import { explainStartFailure } from '../../platform/operations/start-failure.js';
import { UsageError } from './ask.js';
import { countOf, Progress } from './progress.js';
import { rejectOlder, requireDatabase } from './run-command.js';

/** The size of a batch; a row may be larger. */
const BATCH = { rows: 1000, characters: 4 * 1024 * 1024 };

/** Of the embedded database, without the search index, which is none of PostgreSQL's. */
const SOURCE_TABLES = `
  SELECT name FROM pragma_table_list
  WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'`;

const TARGET_TABLES = `
  SELECT relname AS name,
    (SELECT json_object_agg(attname, format_type(atttypid, atttypmod)) FROM pg_attribute
     WHERE attrelid = tables.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS types,
    (SELECT coalesce(json_agg(parents.relname), '[]') FROM pg_constraint JOIN pg_class AS parents ON parents.oid = confrelid
     WHERE conrelid = tables.oid AND contype = 'f') AS parents,
    (SELECT sequences.oid::regclass::text FROM pg_depend JOIN pg_class AS sequences ON sequences.oid = objid
     WHERE refobjid = tables.oid AND deptype IN ('a', 'i') AND sequences.relkind = 'S') AS sequence
  FROM pg_class AS tables
  WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = tables.oid AND deptype = 'e')
  ORDER BY relname COLLATE "C"`;

/** A table of the target: the types of its columns, the tables that it refers to, and the sequence of its ids. */
interface Table {
  readonly name: string;
  readonly types: Readonly<Record<string, string>>;
  readonly parents: readonly string[];
  readonly sequence: string | null;
}

/** Copies all tables of the embedded database to an empty one on PostgreSQL, in one transaction there. @throws UsageError */
export async function moveDatabase(from: StoreConfig['store'], address: string): Promise<number> {
  if (!isEmbedded(from)) throw new UsageError('DATABASE_URL is set: only the embedded database moves');
  requireDatabase(from);
  const to = await atTarget(() => targetOf(address));
  console.error(`From: ${describeStore(from)}\nTo: ${describeStore(to)}`);
  const lock = lockForService(from);
  const target = singleConnection(to);
  let source: Database.Database | undefined;
  try {
    const opened = await commandDataSource({ store: from }).initialize();
    await rejectOlder(opened, { store: from }).finally(() => opened.destroy());
    await atTarget(async () => {
      await migrate({ store: to });
      await target.connect();
    });
    source = new Database(databaseFile(from), { fileMustExist: true, timeout: 30_000 });
    await copy(source, target);
  } finally {
    source?.close();
    lock.release();
    await target.end();
  }
  console.log(`Start the service with the address as DATABASE_URL. Its keys are not in the database, so they have to come along:
ENCRYPTION_KEY, if it is set, and JWT_SECRET, or without it the file jwt-secret in DATA_DIR`);
  return 0;
}

function targetOf(address: string): PostgresStore {
  const { DATABASE_URL: _, DATABASE_URL_FILE: __, ...others } = process.env;
  const { store } = loadStoreConfig({ ...others, DATABASE_URL: address });
  if (isEmbedded(store))
    throw new UsageError('The target must be postgres://user:password@host:port/database');
  return store;
}

/** Runs a part whose errors name the settings of the service, which are those of the source. */
async function atTarget<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = explainStartFailure(error).replaceAll('DATABASE_URL', 'The target');
    throw new UsageError(message, { cause: error });
  }
}

async function copy(source: Database.Database, target: PostgresClient): Promise<void> {
  const names = listOf<string>(source, SOURCE_TABLES);
  const tables = parentsFirst((await target.query(TARGET_TABLES)).rows);
  const extra = names.find((name) => !tables.some((table) => table.name === name));
  if (extra !== undefined)
    throw new UsageError(`The source has a table ${extra} that no migration creates: drop it first`);
  // Commands may use the file beside the lock.
  source.exec('BEGIN IMMEDIATE');
  await target.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
  const forAll = (change: (name: string) => string) =>
    target.query(tables.map(({ name }) => change(quote(name))).join(';'));
  // Locks the tables. Unlike `session_replication_role`, it needs no superuser, and keeps the checks of foreign keys.
  await forAll((name) => `ALTER TABLE ${name} DISABLE TRIGGER USER`);
  await requireEmpty(target, tables);
  await target.query(`TRUNCATE ${tables.map(({ name }) => quote(name)).join(', ')}`);
  const sequences = source.prepare<[], [string, number]>('SELECT name, seq FROM sqlite_sequence').raw();
  const lastIds = new Map(sequences.all());
  for (const table of tables.filter(({ name }) => names.includes(name))) {
    await copyTable(source, target, table).catch((error: unknown) => {
      const sentence = `${table.name} cannot be copied: ${(error as Error).message}; the target stays empty`;
      throw new UsageError(sentence, { cause: error });
    });
  }
  for (const { name, sequence } of tables) {
    // Unlike `setval`, it is rolled back with the transaction.
    if (sequence)
      await target.query(`ALTER SEQUENCE ${sequence} RESTART WITH ${(lastIds.get(name) ?? 0) + 1}`);
  }
  // SQLite counts the positions of events in the sequence of their table.
  await target.query(`UPDATE event_log SET last_position = ${lastIds.get('events') ?? 0} WHERE id = 1`);
  await forAll((name) => `ALTER TABLE ${name} ENABLE TRIGGER USER`);
  await target.query('COMMIT');
}

async function copyTable(source: Database.Database, target: PostgresClient, table: Table): Promise<void> {
  const { name, types } = table;
  const columns = listOf<string>(
    source,
    `SELECT name FROM pragma_table_xinfo('${name}') WHERE hidden = 0`,
  ).filter((column) => Object.hasOwn(types, column));
  const list = columns.map(quote).join(', ');
  const values = columns.map((column, n) => `(sent ->> ${n})::${types[column]!}`).join(', ');
  const insertion = `INSERT INTO ${quote(table.name)} (${list}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM json_array_elements($1::json) AS sent`;
  const total = countIn(source, table);
  const progress = new Progress(`rows of ${name}`, total);
  let rows: string[] = [];
  let [characters, done] = [0, 0];
  const send = async (): Promise<void> => {
    if (rows.length > 0) await target.query(insertion, [`[${rows.join()}]`]);
    progress.show((done += rows.length));
    rows = [];
    characters = 0;
  };
  const statement = source.prepare<[], unknown[]>(`SELECT ${list} FROM ${quote(table.name)}`);
  for (const row of statement.raw().safeIntegers().iterate()) {
    const text = JSON.stringify(row.map(toText));
    rows.push(text);
    if (rows.length >= BATCH.rows || (characters += text.length) >= BATCH.characters) await send();
  }
  await send();
  const arrived = await countAt(target, table);
  if (arrived !== total) throw new Error(`${countOf(arrived, 'row')} of ${total} arrived`);
  if (done > 0) console.log(`${name}: ${countOf(done, 'row')} in ${progress.end().toFixed(1)} s`);
}

/** @throws UsageError when a table has more rows than in a new database */
async function requireEmpty(target: PostgresClient, tables: readonly Table[]): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'move-'));
  try {
    await migrate({ store: { kind: 'sqlite', directory } });
    const fresh = new Database(databaseFile({ kind: 'sqlite', directory }));
    const names = listOf<string>(fresh, SOURCE_TABLES);
    for (const table of tables) {
      const count = await countAt(target, table);
      if (count > (names.includes(table.name) ? countIn(fresh, table) : 0))
        throw new UsageError(`The target is not empty: ${table.name} has ${countOf(count, 'row')}`);
    }
    fresh.close();
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The first column of a query. */
const listOf = <T>(source: Database.Database, sql: string) => source.prepare<[], T>(sql).pluck().all();

const countIn = (source: Database.Database, table: Table): number =>
  listOf<number>(source, `SELECT count(*) FROM ${quote(table.name)}`)[0]!;

const countAt = async (target: PostgresClient, table: Table): Promise<number> =>
  Number((await target.query(`SELECT count(*) AS count FROM ${quote(table.name)}`)).rows[0].count);

/** A value as PostgreSQL reads it from text: SQLite has times as text, and booleans as numbers. */
const toText = (value: unknown): string | null =>
  value === null ? null : Buffer.isBuffer(value) ? `\\x${value.toString('hex')}` : String(value);

const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

function parentsFirst(tables: readonly Table[]): Table[] {
  const sorted = new Set<Table>();
  const add = (table: Table): void => {
    for (const parent of tables) if (parent !== table && table.parents.includes(parent.name)) add(parent);
    sorted.add(table);
  };
  tables.forEach(add);
  return [...sorted];
}
