/**
 * What the service is held against: a server written by hand for speed, with Fastify and the plain drivers,
 * that does the same visible work: the same routes, answers, headers, checks and log line, and the same SQL,
 * prepared. It has none of the structure, and only the paths that are measured.
 *
 *     DATABASE_URL=… | DATA_DIR=… PORT=… node bench/baseline.ts
 */
import { randomUUID } from 'node:crypto';
import Database from 'better-sqlite3';
import fastify, { type FastifyReply } from 'fastify';
import { Pool, types } from 'pg';
import { pino } from 'pino';

type Row = Record<string, string | number>;

interface Sql {
  all(name: keyof typeof statements, values: Record<string, unknown>): Promise<Row[]> | Row[];
}

const COLUMNS = 'id, title, content, author_id, status, created_at, updated_at';
const url = process.env['DATABASE_URL'];

const statements = {
  one: `SELECT ${COLUMNS} FROM posts WHERE id = :id`,
  list: `SELECT ${COLUMNS} FROM posts ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset`,
  total: 'SELECT count(*) AS total FROM posts',
  listByStatus: `SELECT ${COLUMNS} FROM posts WHERE status = :status ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset`,
  totalByStatus: 'SELECT count(*) AS total FROM posts WHERE status = :status',
  walk: `SELECT ${COLUMNS} FROM posts WHERE id > :after ORDER BY id LIMIT :limit`,
  create: `INSERT INTO posts (title, content, title_folded, content_folded, author_id, status, created_at, updated_at)
    VALUES (:title, :content, :titleFolded, :contentFolded, 1, :status, :now, :now) RETURNING ${COLUMNS}`,
  update: `UPDATE posts SET title = coalesce(:title, title), title_folded = coalesce(:titleFolded, title_folded),
    content = coalesce(:content, content), content_folded = coalesce(:contentFolded, content_folded),
    status = coalesce(:status, status), updated_at = ${
      url
        ? "greatest(:now::timestamptz, updated_at + interval '1 millisecond')"
        : "max(:now, strftime('%Y-%m-%dT%H:%M:%fZ', updated_at, '+0.001 seconds'))"
    } WHERE id = :id RETURNING ${COLUMNS}`,
};
