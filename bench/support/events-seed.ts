import Database from 'better-sqlite3';
import { Client } from 'pg';

const COLUMNS = 'type, subject, time, data, is_private';
const DATA = `{"id":1,"title":"A title","content":"${'Some words of a content. '.repeat(10)}"}`;

/** Events of the last minutes, of one type except for one in ten thousand. */
const rows = (series: string, number: string, time: string) => `
  SELECT CASE WHEN ${number} % 10000 = 0 THEN 'user.deleted' ELSE 'post.updated' END,
    '/v1/posts/' || ${number}, ${time}, '${DATA}', FALSE FROM ${series}`;

/** Fills the log of a database that no service has open. */
export async function seedEvents(
  environment: Readonly<Record<string, string>>,
  count: number,
): Promise<void> {
  const now = new Date().toISOString();
  if (environment['DATABASE_URL']) {
    const client = new Client(environment['DATABASE_URL']);
    await client.connect();
    await client.query(
      `INSERT INTO events (${COLUMNS}, position, epoch)
       SELECT row.*, row_number() OVER (), (SELECT epoch FROM event_log) FROM (
         ${rows(`generate_series(1, ${count}) AS n`, 'n', `CAST('${now}' AS timestamptz)`)}
       ) AS row`,
    );
    await client.query('UPDATE event_log SET last_position = last_position + $1', [count]);
    await client.query('VACUUM ANALYZE events');
    await client.end();
    return;
  }
  const database = new Database(`${environment['DATA_DIR']}/database.sqlite`);
  database.exec(
    `WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < ${count})
     INSERT INTO events (${COLUMNS}, epoch)
     SELECT row.*, (SELECT epoch FROM event_log) FROM (${rows('series', 'n', `'${now}'`)}) AS row`,
  );
  database.close();
}
