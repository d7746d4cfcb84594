export const UP = [
  `CREATE TRIGGER post_views_insert AFTER INSERT ON posts
   BEGIN INSERT INTO post_views (post_id, post_status, views) VALUES (new.id, new.status, 0); END`,
  `CREATE TRIGGER post_views_update AFTER UPDATE OF status ON posts WHEN old.status <> new.status
   BEGIN UPDATE post_views SET post_status = new.status WHERE post_id = new.id; END`,
];

export const DOWN = ['insert', 'update'].map((event) => `DROP TRIGGER post_views_${event}`);
