/** Concurrent writers have different backends, so they usually lock different slots. */
const SLOT = 'pg_backend_pid() % 16';

/** Sorted by scope, so that two writers in one slot lock its rows in the same order. */
const add = (changes: string) => `
  INSERT INTO post_totals AS counter (scope, slot, total)
  SELECT scope, ${SLOT}, sum(amount) FROM (${changes}) AS change
  GROUP BY scope HAVING sum(amount) <> 0 ORDER BY scope
  ON CONFLICT (scope, slot) DO UPDATE SET total = counter.total + excluded.total;`;

const scopes = (rows: string, amount: 1 | -1) => `
  SELECT 'status=' || status AS scope, ${amount} AS amount FROM ${rows}
  UNION ALL SELECT 'author=' || author_id, ${amount} FROM ${rows}`;

const trigger = (event: 'insert' | 'delete' | 'update', transition: string, changes: string) => [
  `CREATE FUNCTION post_totals_${event}() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN ${add(changes)} RETURN NULL; END $$`,
  `CREATE TRIGGER post_totals_${event} AFTER ${event} ON posts
   ${transition} EXECUTE FUNCTION post_totals_${event}()`,
];

export const UP = [
  // The few rows change constantly. Free space on each page allows HOT updates, which keep the table small.
  'ALTER TABLE post_totals SET (fillfactor = 20)',
  ...trigger('insert', 'REFERENCING NEW TABLE AS added FOR EACH STATEMENT', scopes('added', 1)),
  ...trigger('delete', 'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT', scopes('removed', -1)),
  ...trigger(
    'update',
    `FOR EACH ROW WHEN (old.status <> new.status OR old.author_id <> new.author_id)`,
    `${scopes('(SELECT old.status, old.author_id) AS removed', -1)}
     UNION ALL ${scopes('(SELECT new.status, new.author_id) AS added', 1)}`,
  ),
];

export const DOWN = ['insert', 'delete', 'update'].flatMap((event) => [
  `DROP TRIGGER post_totals_${event} ON posts`,
  `DROP FUNCTION post_totals_${event}`,
]);
