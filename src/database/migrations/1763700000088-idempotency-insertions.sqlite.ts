export const UP = [
  `CREATE TRIGGER idempotency_usage_insert AFTER INSERT ON idempotency_records BEGIN
     INSERT INTO idempotency_usage (slot, bytes) VALUES (0, new.size)
     ON CONFLICT (slot) DO UPDATE SET bytes = bytes + excluded.bytes;
   END`,
];

export const DOWN = ['DROP TRIGGER idempotency_usage_insert'];
