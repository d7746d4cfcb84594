/** Concurrent writers have different backends, so they usually lock different slots. */
const add = (changes: string) => `
  INSERT INTO idempotency_usage AS counter (slot, bytes)
  SELECT pg_backend_pid() % 16, amount FROM (${changes}) AS change WHERE amount <> 0
  ON CONFLICT (slot) DO UPDATE SET bytes = counter.bytes + excluded.bytes;`;

const trigger = (event: 'delete' | 'update', on: string, transition: string, changes: string) => [
  `CREATE FUNCTION idempotency_usage_${event}() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN ${add(changes)} RETURN NULL; END $$`,
  `CREATE TRIGGER idempotency_usage_${event} AFTER ${on} ON idempotency_records
   ${transition} EXECUTE FUNCTION idempotency_usage_${event}()`,
];

export const UP = [
  // The few rows change constantly. Free space on each page allows HOT updates, which keep the table small.
  'ALTER TABLE idempotency_usage SET (fillfactor = 20)',
  ...trigger('update', 'UPDATE OF size', 'FOR EACH ROW', 'SELECT new.size - old.size AS amount'),
  ...trigger(
    'delete',
    'DELETE',
    'REFERENCING OLD TABLE AS removed FOR EACH STATEMENT',
    'SELECT -coalesce(sum(size), 0) AS amount FROM removed',
  ),
];

export const DOWN = ['update', 'delete'].flatMap((event) => [
  `DROP TRIGGER idempotency_usage_${event} ON idempotency_records`,
  `DROP FUNCTION idempotency_usage_${event}`,
]);
