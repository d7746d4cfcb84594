/** One slot is enough: there is one writer. */
const add = (row: 'old' | 'new', amount: 1 | -1) => `
  INSERT INTO post_totals (scope, slot, total)
  VALUES ('status=' || ${row}.status, 0, ${amount}), ('author=' || ${row}.author_id, 0, ${amount})
  ON CONFLICT (scope, slot) DO UPDATE SET total = total + ${amount};`;

export const UP = [
  `CREATE TRIGGER post_totals_insert AFTER INSERT ON posts BEGIN ${add('new', 1)} END`,
  `CREATE TRIGGER post_totals_delete AFTER DELETE ON posts BEGIN ${add('old', -1)} END`,
  `CREATE TRIGGER post_totals_update AFTER UPDATE OF status, author_id ON posts
   WHEN old.status <> new.status OR old.author_id <> new.author_id
   BEGIN ${add('old', -1)} ${add('new', 1)} END`,
];

export const DOWN = ['insert', 'delete', 'update'].map((event) => `DROP TRIGGER post_totals_${event}`);
