/** One slot is enough: there is one writer. */
const add = (amount: string) => `
  INSERT INTO idempotency_usage (slot, bytes) VALUES (0, ${amount})
  ON CONFLICT (slot) DO UPDATE SET bytes = bytes + excluded.bytes;`;

export const UP = [
  `CREATE TRIGGER idempotency_usage_update AFTER UPDATE OF size ON idempotency_records
   BEGIN ${add('new.size - old.size')} END`,
  `CREATE TRIGGER idempotency_usage_delete AFTER DELETE ON idempotency_records BEGIN ${add('-old.size')} END`,
];

export const DOWN = ['update', 'delete'].map((event) => `DROP TRIGGER idempotency_usage_${event}`);
