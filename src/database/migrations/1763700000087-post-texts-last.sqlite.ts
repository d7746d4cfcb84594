import type { QueryRunner } from 'typeorm';

const COLUMNS =
  'id, author_id, status, created_at, updated_at, version, source, title, title_folded, content, content_folded';

/**
 * Copies the table, because SQLite cannot move a column (https://sqlite.org/lang_altertable.html#otheralter). TypeORM
 * has turned foreign keys off; otherwise, dropping the table would delete the view counts.
 */
export async function putTextsLast(runner: QueryRunner): Promise<void> {
  const indexesAndTriggers: { sql: string }[] = await runner.query(
    `SELECT sql FROM sqlite_master WHERE tbl_name = 'posts' AND type IN ('index', 'trigger') AND sql IS NOT NULL`,
  );
  const sequence: { seq: number }[] = await runner.query(
    `SELECT seq FROM sqlite_sequence WHERE name = 'posts'`,
  );
  await runner.query(`
    CREATE TABLE posts_copy (
      "id" integer PRIMARY KEY AUTOINCREMENT NOT NULL,
      author_id integer NOT NULL,
      status text NOT NULL,
      created_at text NOT NULL,
      updated_at text NOT NULL,
      version integer NOT NULL DEFAULT 1,
      source text,
      title text NOT NULL,
      title_folded text NOT NULL,
      content text NOT NULL,
      content_folded text NOT NULL,
      CONSTRAINT "posts_author_id_fkey" FOREIGN KEY ("author_id") REFERENCES "users" ("id")
    )`);
  await runner.query(`INSERT INTO posts_copy (${COLUMNS}) SELECT ${COLUMNS} FROM posts`);
  await runner.query('DROP TABLE posts');
  await runner.query('ALTER TABLE posts_copy RENAME TO posts');
  for (const { sql } of indexesAndTriggers) await runner.query(sql);
  // The ids of deleted posts are not used again.
  await runner.query(`DELETE FROM sqlite_sequence WHERE name = 'posts'`);
  for (const { seq } of sequence)
    await runner.query(`INSERT INTO sqlite_sequence (name, seq) VALUES ('posts', ${seq})`);
}
