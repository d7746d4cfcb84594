/** The prepared statements of the hand-written server, on the plain drivers. */
import Database from 'better-sqlite3';
import { Pool, type PoolClient, types } from 'pg';
import { graphqlStatements } from './baseline-graphql.ts';
import { orderStatements } from './baseline-orders.ts';

type Values = Record<string, string | number | null>;
export type Row = Record<string, any>;
type Rows = Row[] | Promise<Row[]>;
type Run = (name: keyof typeof SQL, values: Values) => Rows;

export interface Store {
  /** Runs a statement by its name. */
  readonly run: Run;
  /** Runs the statements of a generator in one transaction. */
  readonly inTransaction: <T>(work: (run: Run) => Generator<Rows, T, Row[]>) => Promise<T>;
}

const url = process.env['DATABASE_URL'];

const COLUMNS = 'id, title, content, author_id, status, created_at, updated_at';
const NEWEST = 'ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset';
const TOTAL = 'SELECT CAST(coalesce(sum(total), 0) AS bigint) AS total FROM post_totals WHERE scope IN';
const FORWARD = url
  ? "greatest(:now::timestamptz, updated_at + interval '1 millisecond')"
  : "max(:now, strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0.001 seconds'))";

/** The same as in the service. */
const SQL = {
  one: `SELECT ${COLUMNS}, version FROM posts WHERE id = :id`,
  list: `SELECT ${COLUMNS} FROM posts ${NEWEST}`,
  total: `${TOTAL} ('status=draft', 'status=published')`,
  listDrafts: `SELECT ${COLUMNS} FROM posts WHERE status = :status ${NEWEST}`,
  totalDrafts: `${TOTAL} ('status=draft')`,
  listByCursor: `SELECT ${COLUMNS} FROM posts WHERE id > :after ORDER BY id LIMIT :limit`,
  create: `INSERT INTO posts
      (title, content, title_folded, content_folded, author_id, status, created_at, updated_at)
    VALUES (:title, :content, :titleFolded, :contentFolded, 1, :status, :now, :now) RETURNING ${COLUMNS}, version`,
  update: `UPDATE posts SET title = coalesce(:title, title), title_folded = coalesce(:titleFolded, title_folded),
      content = coalesce(:content, content), content_folded = coalesce(:contentFolded, content_folded),
      status = coalesce(:status, status), updated_at = ${FORWARD}, version = version + 1
    WHERE id = :id RETURNING ${COLUMNS}, version`,
  countReads: `UPDATE post_views SET views = views + ${url ? '(read.value ->> 1)::bigint' : 'read.value ->> 1'}
    FROM ${url ? 'json_array_elements(:reads::json)' : 'json_each(:reads)'} AS read
    WHERE post_views.post_id = ${url ? '(read.value ->> 0)::bigint' : 'read.value ->> 0'} RETURNING post_id`,
  ...graphqlStatements(url !== undefined),
  ...orderStatements(url !== undefined),
};

/** The events that are recorded in the transaction of a change. */
const EVENTS: Record<string, { type: string; path: string; columns: string }> = {
  create: { type: 'post.created', path: '/v1/posts/', columns: COLUMNS },
  update: { type: 'post.updated', path: '/v1/posts/', columns: COLUMNS },
  updateUser: {
    type: 'user.updated',
    path: '/v2/users/',
    columns: 'id, name, email, created_at, updated_at',
  },
};

/** Object identifiers of PostgreSQL's types. */
const INT8 = 20;
const TIMESTAMPTZ = 1184;

export const store: Store = url ? postgres(url) : sqlite(process.env['DATA_DIR']!);

function postgres(connectionString: string): Store {
  const readable = {
    getTypeParser: (type: number, format?: any) => {
      if (type === INT8) return Number;
      if (type === TIMESTAMPTZ) return (text: string) => new Date(text).toISOString();
      return types.getTypeParser(type, format);
    },
  };
  const pool = new Pool({ connectionString, max: 10, types: readable });
  const prepared = Object.fromEntries(
    Object.entries(SQL).map(([name, sql]) => {
      const names: string[] = [];
      const text = sql.replaceAll(/(?<!:):([a-z]\w*)/g, (_, parameter: string) => {
        if (!names.includes(parameter)) names.push(parameter);
        return `$${names.indexOf(parameter) + 1}`;
      });
      return [name, { name, text, names }];
    }),
  );
  const runOn =
    (connection: Pool | PoolClient) =>
    async (name: keyof typeof SQL, values: Values): Promise<Row[]> => {
      const { text, names } = prepared[name]!;
      return (await connection.query({ name, text, values: names.map((parameter) => values[parameter]) }))
        .rows;
    };
  const record = {
    name: 'event',
    text: `INSERT INTO events (type, subject, time, data, is_private) VALUES ($1, $2, $3, $4, FALSE)`,
  };
  const change = async (name: keyof typeof SQL, values: Values): Promise<Row[]> => {
    const { type, path, columns } = EVENTS[name]!;
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const rows = await runOn(client)(name, values);
      for (const row of rows) {
        const data = Object.fromEntries(columns.split(', ').map((column) => [column, row[column]]));
        if (name === 'updateUser') data['id'] = String(data['id']);
        await client.query({
          ...record,
          values: [type, `${path}${row['id']}`, values['now'], JSON.stringify(data)],
        });
      }
      await client.query('COMMIT');
      return rows;
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  };
  return {
    run: (name, values) => (name in EVENTS ? change(name, values) : runOn(pool)(name, values)),
    async inTransaction(work) {
      const client = await pool.connect();
      try {
        await client.query('BEGIN');
        const steps = work(runOn(client));
        let step = steps.next();
        while (!step.done) step = steps.next(await step.value);
        await client.query('COMMIT');
        return step.value;
      } catch (error) {
        await client.query('ROLLBACK');
        throw error;
      } finally {
        client.release();
      }
    },
  };
}

function sqlite(folder: string): Store {
  const database = new Database(`${folder}/database.sqlite`);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  const prepared = Object.fromEntries(
    Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)]),
  );
  const record = database.prepare(
    `INSERT INTO events (epoch, type, subject, time, data, is_private)
     VALUES ((SELECT epoch FROM event_log WHERE id = 1), ?, ?, ?, ?, FALSE)`,
  );
  const change = database.transaction((name: string, values: Values): Row[] => {
    const { type, path, columns } = EVENTS[name]!;
    const rows = prepared[name]!.all(values) as Row[];
    for (const row of rows) {
      const data = Object.fromEntries(columns.split(', ').map((column) => [column, row[column]]));
      record.run(type, `${path}${row['id']}`, values['now'], JSON.stringify(data));
    }
    return rows;
  });
  const run = (name: keyof typeof SQL, values: Values): Row[] =>
    name in EVENTS ? change.immediate(name, values) : runOne(name, values);
  const runOne = (name: keyof typeof SQL, values: Values): Row[] => {
    const statement = prepared[name]!;
    if (statement.reader) return statement.all(values) as Row[];
    statement.run(values);
    return [];
  };
  const complete = database.transaction((steps: Generator<Rows, unknown, Row[]>) => {
    let step = steps.next();
    while (!step.done) step = steps.next(step.value as Row[]);
    return step.value;
  });
  return { run, inTransaction: async (work) => complete.immediate(work(runOne)) as never };
}
