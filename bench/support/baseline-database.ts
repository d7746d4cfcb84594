/** The statements of the server by hand, prepared, on the plain drivers. */
import Database from 'better-sqlite3';
import { Pool, types } from 'pg';
import { graphqlStatements } from './baseline-graphql.ts';

type Values = Record<string, string | number | null>;
export type Row = Record<string, any>;

const url = process.env['DATABASE_URL'];

const COLUMNS = 'id, title, content, author_id, status, created_at, updated_at';
const NEWEST = 'ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset';
const TOTAL = 'SELECT CAST(coalesce(sum(total), 0) AS bigint) AS total FROM post_totals WHERE scope IN';
const FORWARD = url
  ? "greatest(:now::timestamptz, updated_at + interval '1 millisecond')"
  : "max(:now, strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0.001 seconds'))";

/** As the service has them. */
const SQL = {
  one: `SELECT ${COLUMNS} FROM posts WHERE id = :id`,
  list: `SELECT ${COLUMNS} FROM posts ${NEWEST}`,
  total: `${TOTAL} ('status=draft', 'status=published')`,
  listDrafts: `SELECT ${COLUMNS} FROM posts WHERE status = :status ${NEWEST}`,
  totalDrafts: `${TOTAL} ('status=draft')`,
  walk: `SELECT ${COLUMNS} FROM posts WHERE id > :after ORDER BY id LIMIT :limit`,
  create: `INSERT INTO posts
      (title, content, title_folded, content_folded, author_id, status, created_at, updated_at)
    VALUES (:title, :content, :titleFolded, :contentFolded, 1, :status, :now, :now) RETURNING ${COLUMNS}`,
  update: `UPDATE posts SET title = coalesce(:title, title), title_folded = coalesce(:titleFolded, title_folded),
      content = coalesce(:content, content), content_folded = coalesce(:contentFolded, content_folded),
      status = coalesce(:status, status), updated_at = ${FORWARD}
    WHERE id = :id RETURNING ${COLUMNS}`,
  countReads: `UPDATE posts SET views = views + ${url ? '(read.value ->> 1)::bigint' : 'read.value ->> 1'}
    FROM ${url ? 'json_array_elements(:reads::json)' : 'json_each(:reads)'} AS read
    WHERE posts.id = ${url ? '(read.value ->> 0)::bigint' : 'read.value ->> 0'} RETURNING posts.id`,
  ...graphqlStatements(url !== undefined),
};

/** Object identifiers of PostgreSQL's types. */
const INT8 = 20;
const TIMESTAMPTZ = 1184;

/** Runs a statement by its name. */
export const run = url ? await postgres(url) : sqlite(process.env['DATA_DIR']!);

async function postgres(connectionString: string) {
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
      const text = sql.replaceAll(/(?<!:):([a-z]\w*)/gi, (_, parameter: string) => {
        if (!names.includes(parameter)) names.push(parameter);
        return `$${names.indexOf(parameter) + 1}`;
      });
      return [name, { name, text, names }];
    }),
  );
  return async (name: keyof typeof SQL, values: Values): Promise<Row[]> => {
    const { text, names } = prepared[name]!;
    return (await pool.query({ name, text, values: names.map((parameter) => values[parameter]) })).rows;
  };
}

function sqlite(folder: string) {
  const database = new Database(`${folder}/database.sqlite`);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
  database.pragma('foreign_keys = ON');
  const prepared = Object.fromEntries(
    Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)]),
  );
  return (name: keyof typeof SQL, values: Values): Row[] => prepared[name]!.all(values) as Row[];
}
