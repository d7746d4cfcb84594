import Database from 'better-sqlite3';
import type { PostgresStore, SqliteStore } from '../config/config.js';
import { DatabaseError } from './failures.js';
import type { PostgresClient } from './postgres/client.js';
import { singleConnection } from './postgres/pools.js';
import { databaseFile } from './sqlite/data-source.js';

/** The size of a batch; a row may be larger. */
const BATCH = { rows: 1000, characters: 4 * 1024 * 1024 };

/** Of the embedded database, without the search index, which is none of PostgreSQL's. */
const SOURCE_TABLES = `
  SELECT name FROM pragma_table_list
  WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'`;

const TARGET_TABLES = `
  SELECT relname AS name,
    (SELECT json_object_agg(attname, format_type(atttypid, atttypmod)) FROM pg_attribute
     WHERE attrelid = tables.oid AND attnum > 0 AND NOT attisdropped) AS types,
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

type Row = Record<string, bigint | number | string | Buffer | null>;

/** Reports how much of a table is copied, in rows. */
export type BeginTable = (name: string, total: number) => { show(done: number): void; end(): void };

/**
 * Copies all tables of the embedded database to one on PostgreSQL with the same schema and no rows, in one transaction.
 *
 * @throws DatabaseError when a table cannot be copied, or must not be replaced
 */
export async function copyToPostgres(from: SqliteStore, to: PostgresStore, begin: BeginTable): Promise<void> {
  const source = new Database(databaseFile(from), { fileMustExist: true, timeout: 30_000 });
  const target = singleConnection(to);
  try {
    await target.connect();
    await copy(source, target, begin);
  } finally {
    source.close();
    await target.end();
  }
}

async function copy(source: Database.Database, target: PostgresClient, begin: BeginTable): Promise<void> {
  const names = listOf<string>(source, SOURCE_TABLES);
  const tables = parentsFirst((await target.query(TARGET_TABLES)).rows);
  const extra = names.find((name) => !tables.some((table) => table.name === name));
  if (extra !== undefined)
    throw new DatabaseError(`The source has a table ${extra} that no migration creates: drop it first`);
  // Commands may use the file beside the lock.
  source.exec('BEGIN IMMEDIATE');
  await target.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
  const forAll = (change: (name: string) => string) =>
    target.query(tables.map(({ name }) => change(quote(name))).join(';'));
  // Locks the tables. Unlike `session_replication_role`, it needs no superuser, and keeps the checks of foreign keys.
  await forAll((name) => `ALTER TABLE ${name} DISABLE TRIGGER USER`);
  for (const table of tables) await requireEmpty(target, table);
  await target.query(`TRUNCATE ${tables.map(({ name }) => quote(name)).join(', ')}`);
  const sequences = source.prepare<[], [string, number]>('SELECT name, seq FROM sqlite_sequence').raw();
  const lastIds = new Map(sequences.all());
  for (const table of tables.filter(({ name }) => names.includes(name))) {
    await copyTable(source, target, { table, begin }).catch((error: unknown) => {
      const sentence = `${table.name} cannot be copied: ${(error as Error).message}; the target stays empty`;
      throw new DatabaseError(sentence, { cause: error });
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

async function copyTable(
  source: Database.Database,
  target: PostgresClient,
  { table: { name, types }, begin }: { table: Table; begin: BeginTable },
): Promise<void> {
  const columns = listOf<string>(source, `SELECT name FROM pragma_table_xinfo('${name}') WHERE hidden = 0`);
  const list = columns.map(quote).join(', ');
  const values = columns.map((column) => `(sent ->> '${column}')::${types[column]!}`).join(', ');
  const insertion = `INSERT INTO ${quote(name)} (${list}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM json_array_elements($1::json) AS sent`;
  const [total] = listOf<number>(source, `SELECT count(*) FROM ${quote(name)}`);
  const progress = begin(name, total!);
  let rows: string[] = [];
  let [characters, done] = [0, 0];
  const send = async (): Promise<void> => {
    if (rows.length > 0) await target.query(insertion, [`[${rows.join()}]`]);
    progress.show((done += rows.length));
    rows = [];
    characters = 0;
  };
  const statement = source.prepare<[], Row>(`SELECT ${list} FROM ${quote(name)}`).safeIntegers();
  for (const row of statement.iterate()) {
    const text = JSON.stringify(row, toText);
    rows.push(text);
    if (rows.length >= BATCH.rows || (characters += text.length) >= BATCH.characters) await send();
  }
  await send();
  const arrived = await countAt(target, name);
  if (arrived !== total) throw new Error(`${arrived} of ${total} rows arrived`);
  progress.end();
}

/** @throws DatabaseError when a table has rows that no migration has written: in its transaction, it writes its own row */
async function requireEmpty(target: PostgresClient, { name }: Table): Promise<void> {
  const written = `xmin::text NOT IN (SELECT xmin::text FROM migrations)`;
  const count = await countAt(target, name, `WHERE ${written}`);
  if (count > 0)
    throw new DatabaseError(`The target is not empty: ${name} has ${count} ${count === 1 ? 'row' : 'rows'}`);
}

/** The first column of a query. */
const listOf = <T>(source: Database.Database, sql: string) => source.prepare<[], T>(sql).pluck().all();

async function countAt(target: PostgresClient, name: string, condition = ''): Promise<number> {
  const { rows } = await target.query(`SELECT count(*) AS count FROM ${quote(name)} ${condition}`);
  return Number(rows[0].count);
}

/** A value as text, which PostgreSQL converts to the type of the column; a `Buffer` is an object in JSON. */
function toText(this: Row, key: string, value: unknown): unknown {
  const own = this[key];
  if (Buffer.isBuffer(own)) return `\\x${own.toString('hex')}`;
  return typeof own === 'bigint' || typeof own === 'number' ? String(own) : value;
}

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
