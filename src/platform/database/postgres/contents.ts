import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresStore } from '../../config/config.js';
import { BATCH, type Batch, type Contents, quote, type Table } from '../contents.js';
import { DatabaseError } from '../failures.js';
import type { PostgresClient } from './client.js';
import { singleConnection } from './pools.js';

/** Without partitions, whose rows are those of their table, and tables of extensions. */
const TABLES = `
  SELECT relname AS name,
    (SELECT json_object_agg(attname, format_type(atttypid, atttypmod)) FROM pg_attribute
     WHERE attrelid = tables.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '') AS types,
    (SELECT coalesce(json_agg(parents.relname), '[]') FROM pg_constraint JOIN pg_class AS parents ON parents.oid = confrelid
     WHERE conrelid = tables.oid AND contype = 'f') AS parents
  FROM pg_class AS tables
  WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = current_schema()::regnamespace
    AND NOT EXISTS (SELECT 1 FROM pg_depend WHERE objid = tables.oid AND deptype = 'e')
  ORDER BY relname COLLATE "C"`;

/** Of the columns that get their values from a sequence. */
const SEQUENCES = `
  SELECT tables.relname AS "table", sequences.oid::regclass::text AS sequence
  FROM pg_class AS sequences JOIN pg_depend ON objid = sequences.oid AND deptype IN ('a', 'i')
    JOIN pg_class AS tables ON tables.oid = refobjid
  WHERE sequences.relkind = 'S' AND tables.relnamespace = current_schema()::regnamespace`;

/** How long a session may take to end, and the interval between two looks, in milliseconds. */
const SESSION_END = 1000;
const RETRY = 100;

/** Sessions of clients: a worker of the server has no user. */
const OTHERS = `
  SELECT count(*) AS count FROM pg_stat_activity
  WHERE datname = current_database() AND usesysid IS NOT NULL AND pid <> pg_backend_pid()`;

/** The contents of a database on PostgreSQL, read and written over one connection, by the owner of its tables. */
export class PostgresContents implements Contents {
  private readonly client: PostgresClient;
  private triggered: readonly string[] = [];

  constructor(store: PostgresStore) {
    this.client = singleConnection(store);
  }

  async reserve(): Promise<void> {
    await this.client.connect();
    let others = await this.countOthers();
    // A session ends a moment after its client.
    for (let wait = 0; others > 0 && wait < SESSION_END; wait += RETRY, others = await this.countOthers())
      await sleep(RETRY);
    if (others === 0) return;
    const sessions = others === 1 ? '1 other session uses' : `${others} other sessions use`;
    throw new DatabaseError(
      `${sessions} the PostgreSQL database: stop the service and its commands, and disconnect other clients`,
    );
  }

  async beginReading(): Promise<Table[]> {
    return this.begin('SHARE', ' ISOLATION LEVEL REPEATABLE READ');
  }

  async beginWriting(): Promise<Table[]> {
    const tables = await this.begin('EXCLUSIVE');
    this.triggered = tables.map(({ name }) => quote(name));
    // Unlike `session_replication_role`, this needs no superuser, and keeps the checks of foreign keys.
    for (const name of this.triggered) await this.query(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
    return tables;
  }

  async query<Row>(sql: string, parameters?: string[]): Promise<Row[]> {
    return (await this.client.query(sql, parameters)).rows;
  }

  /** A second cursor reads the sizes ahead, so that a batch of large rows has few of them. */
  async *batches({ name, types }: Table, columns: readonly string[]): AsyncGenerator<Batch> {
    const values = columns.map((column) => `${exported(quote(column), types[column]!)} AS ${quote(column)}`);
    const rows = `SELECT row_to_json(shown)::text AS row FROM (SELECT ${values.join(', ')} FROM ${quote(name)}) AS shown`;
    await this.query(`DECLARE sizes CURSOR FOR SELECT length(row) AS size FROM (${rows}) AS written`);
    await this.query(`DECLARE contents CURSOR FOR ${rows}`);
    for (
      let sizes;
      (sizes = await this.query<{ size: number }>(`FETCH ${BATCH.rows} FROM sizes`)).length > 0;
    ) {
      for (const count of partsOf(sizes)) {
        const part = await this.query<{ row: string }>(`FETCH ${count} FROM contents`);
        yield { json: `[${part.map(({ row }) => row).join()}]`, count };
      }
    }
    await this.query('CLOSE ALL');
  }

  async insert({ name, types }: Table, columns: readonly string[], json: string): Promise<void> {
    const names = columns.map(quote);
    const values = columns.map((column, n) => `${names[n]}::${types[column]!}`);
    await this.query(
      `INSERT INTO ${quote(name)} (${names.join(', ')}) OVERRIDING SYSTEM VALUE
       SELECT ${values.join(', ')} FROM json_to_recordset($1) AS sent (${names.map((each) => `${each} text`).join(', ')})`,
      [json],
    );
  }

  async lastIds(): Promise<Map<string, number>> {
    const ids = new Map<string, number>();
    for (const { table, sequence } of await this.sequences()) {
      const [row] = await this.query<{ last: number }>(
        `SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END AS last FROM ${sequence}`,
      );
      ids.set(table, row!.last);
    }
    return ids;
  }

  /** Unlike `setval`, it is rolled back with the transaction. */
  async setLastIds(ids: ReadonlyMap<string, number>): Promise<void> {
    for (const { table, sequence } of await this.sequences())
      await this.query(`ALTER SEQUENCE ${sequence} RESTART WITH ${(ids.get(table) ?? 0) + 1}`);
  }

  async commit(): Promise<void> {
    for (const name of this.triggered) await this.query(`ALTER TABLE ${name} ENABLE TRIGGER USER`);
    await this.query('COMMIT');
  }

  async close(): Promise<void> {
    await this.client.end();
  }

  private async begin(lock: string, isolation = ''): Promise<Table[]> {
    const tables = await this.query<Table>(TABLES);
    await this.query(`BEGIN${isolation}`);
    // The other database may take its time.
    await this.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    await this.query('SET LOCAL statement_timeout = 0');
    // Both cursors of a table have the same order.
    await this.query('SET LOCAL synchronize_seqscans = off');
    await this.query(`LOCK TABLE ${tables.map(({ name }) => quote(name)).join(', ')} IN ${lock} MODE`);
    return tables;
  }

  private async countOthers(): Promise<number> {
    const [others] = await this.query<{ count: number }>(OTHERS);
    return others!.count;
  }

  private sequences(): Promise<{ table: string; sequence: string }[]> {
    return this.query(SEQUENCES);
  }
}

function exported(column: string, type: string): string {
  if (type === 'boolean') return `${column}::integer`;
  if (!/^timestamp.* with time zone$/.test(type)) return `${column}::text`;
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** The numbers of rows that fit into a batch each. */
function* partsOf(rows: readonly { readonly size: number }[]): Generator<number> {
  let count = 0;
  let characters = 0;
  for (const { size } of rows) {
    if (count > 0 && characters + size > BATCH.characters) {
      yield count;
      count = characters = 0;
    }
    count++;
    characters += size;
  }
  if (count > 0) yield count;
}
