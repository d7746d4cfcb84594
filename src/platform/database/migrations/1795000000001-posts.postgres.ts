/**
 * Concurrent writers have different backends, so they usually lock different slots. Sorted by scope, so that two writers
 * in one slot lock its rows in the same order.
 */
const count = (changes: string) => `
  INSERT INTO post_totals AS counter (scope, slot, total)
  SELECT scope, pg_backend_pid() % 16, sum(amount) FROM (${changes}) AS change
  GROUP BY scope HAVING sum(amount) <> 0 ORDER BY scope
  ON CONFLICT (scope, slot) DO UPDATE SET total = counter.total + excluded.total;`;

const scopes = (rows: string, amount: 1 | -1) => `
  SELECT 'status=' || status AS scope, ${amount} AS amount FROM ${rows}
  UNION ALL SELECT 'author=' || author_id, ${amount} FROM ${rows}`;

const trigger = (name: string, on: string, body: string) => [
  `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN ${body} RETURN NULL; END $$`,
  `CREATE TRIGGER ${name} AFTER ${on} EXECUTE FUNCTION ${name}()`,
];

const INSERTED = 'INSERT ON posts REFERENCING NEW TABLE AS added FOR EACH STATEMENT';
const DELETED = 'DELETE ON posts REFERENCING OLD TABLE AS removed FOR EACH STATEMENT';

export const POSTGRES_UP = [
  // The few rows change constantly. Free space on each page allows HOT updates, which keep the table small.
  'ALTER TABLE post_totals SET (fillfactor = 20)',
  ...trigger('post_totals_insert', INSERTED, count(scopes('added', 1))),
  ...trigger('post_totals_delete', DELETED, count(scopes('removed', -1))),
  ...trigger(
    'post_totals_update',
    'UPDATE ON posts FOR EACH ROW WHEN (old.status <> new.status OR old.author_id <> new.author_id)',
    count(`${scopes('(SELECT old.status, old.author_id) AS removed', -1)}
     UNION ALL ${scopes('(SELECT new.status, new.author_id) AS added', 1)}`),
  ),

  // Counts change often. Free space keeps new versions of a row on the same page.
  'ALTER TABLE post_views SET (fillfactor = 70)',
  ...trigger(
    'post_views_insert',
    INSERTED,
    'INSERT INTO post_views (post_id, post_status, views) SELECT id, status, 0 FROM added ORDER BY id;',
  ),
  ...trigger(
    'post_views_update',
    'UPDATE OF status ON posts FOR EACH ROW WHEN (old.status <> new.status)',
    'UPDATE post_views SET post_status = new.status WHERE post_id = new.id;',
  ),

  'CREATE EXTENSION IF NOT EXISTS pg_trgm',
  'CREATE INDEX posts_title_search ON posts USING gin (title_folded gin_trgm_ops)',
  'CREATE INDEX posts_content_search ON posts USING gin (content_folded gin_trgm_ops)',
];

/** Triggers and indexes are dropped with the table. The extension stays, because another schema may use it. */
export const POSTGRES_DOWN = [
  ...['insert', 'delete', 'update'].map((event) => `DROP FUNCTION post_totals_${event}`),
  ...['insert', 'update'].map((event) => `DROP FUNCTION post_views_${event}`),
];
