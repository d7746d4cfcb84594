import { describe, expect, it } from '@jest/globals';
import { summaryOf, withoutValues } from './trace-statement.js';

describe('the span of a statement', () => {
  it.each([
    ['SELECT a FROM posts WHERE id = :id', 'SELECT posts'],
    ['INSERT INTO "users" ("name") VALUES (?)', 'INSERT users'],
    ['UPDATE "posts" SET "views" = 1', 'UPDATE posts'],
    ['delete from logins', 'DELETE logins'],
    ['SELECT id FROM json_each(:ids) CROSS JOIN posts WHERE id IN (SELECT id FROM posts)', 'SELECT posts'],
    ['WITH changed AS (INSERT INTO posts (a) VALUES ($1) RETURNING a) SELECT a FROM changed', 'INSERT posts'],
    ['BEGIN IMMEDIATE', 'BEGIN'],
    ['SELECT 1', 'SELECT'],
    ['', 'SQL'],
  ])('for %j has the name %j', (sql, name) => {
    expect(summaryOf(sql)).toBe(name);
  });

  it.each([
    [
      `SELECT 'it''s 5' AS a, b2 FROM t1 WHERE c = 12.5 LIMIT 20`,
      'SELECT ? AS a, b2 FROM t1 WHERE c = ? LIMIT ?',
    ],
    ['SELECT $1, :id2,\n  "3d" FROM t', 'SELECT $1, :id2, "3d" FROM t'],
    ['CASE id WHEN 7 THEN 3 END', 'CASE id WHEN ? THEN ? END'],
  ])('omits the values of %j', (sql, text) => {
    expect(withoutValues(sql)).toBe(text);
  });
});
