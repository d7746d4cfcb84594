/** Concurrent writers have different backends, so they usually lock different slots. */
export const UP = [
  `CREATE FUNCTION idempotency_usage_insert() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     INSERT INTO idempotency_usage AS counter (slot, bytes) VALUES (pg_backend_pid() % 16, new.size)
     ON CONFLICT (slot) DO UPDATE SET bytes = counter.bytes + excluded.bytes;
     RETURN NULL;
   END $$`,
  // A version of the service that is being replaced inserts without a size, and updates it.
  `CREATE TRIGGER idempotency_usage_insert AFTER INSERT ON idempotency_records
   FOR EACH ROW WHEN (new.size <> 0) EXECUTE FUNCTION idempotency_usage_insert()`,
];

export const DOWN = [
  'DROP TRIGGER idempotency_usage_insert ON idempotency_records',
  'DROP FUNCTION idempotency_usage_insert',
];
