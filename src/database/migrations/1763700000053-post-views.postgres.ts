export const UP = [
  // Counts change often. Free space keeps new versions of a row on the same page.
  'ALTER TABLE post_views SET (fillfactor = 70)',
  `CREATE FUNCTION post_views_insert() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     INSERT INTO post_views (post_id, post_status, views) SELECT id, status, 0 FROM added ORDER BY id;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER post_views_insert AFTER INSERT ON posts
   REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION post_views_insert()`,
  `CREATE FUNCTION post_views_update() RETURNS trigger LANGUAGE plpgsql AS $$
   BEGIN
     UPDATE post_views SET post_status = new.status WHERE post_id = new.id;
     RETURN NULL;
   END $$`,
  `CREATE TRIGGER post_views_update AFTER UPDATE OF status ON posts
   FOR EACH ROW WHEN (old.status <> new.status) EXECUTE FUNCTION post_views_update()`,
];

export const DOWN = ['insert', 'update'].flatMap((event) => [
  `DROP TRIGGER post_views_${event} ON posts`,
  `DROP FUNCTION post_views_${event}`,
]);
