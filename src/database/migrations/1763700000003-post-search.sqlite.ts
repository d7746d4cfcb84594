/** https://sqlite.org/fts5.html#external_content_tables: the index alone, without a copy of the text. */
const remove = `INSERT INTO posts_search (posts_search, rowid, title_folded, content_folded)
  VALUES ('delete', old.id, old.title_folded, old.content_folded);`;

const add = `INSERT INTO posts_search (rowid, title_folded, content_folded)
  VALUES (new.id, new.title_folded, new.content_folded);`;

export const UP = [
  // The text is already case-folded, and accents are significant.
  `CREATE VIRTUAL TABLE posts_search USING fts5 (
     title_folded, content_folded, content = 'posts', content_rowid = 'id',
     tokenize = 'trigram case_sensitive 1'
   )`,
  `INSERT INTO posts_search (posts_search) VALUES ('rebuild')`,
  `CREATE TRIGGER posts_search_insert AFTER INSERT ON posts BEGIN ${add} END`,
  `CREATE TRIGGER posts_search_delete AFTER DELETE ON posts BEGIN ${remove} END`,
  `CREATE TRIGGER posts_search_update AFTER UPDATE OF title_folded, content_folded ON posts
   WHEN old.title_folded <> new.title_folded OR old.content_folded <> new.content_folded
   BEGIN ${remove} ${add} END`,
];

export const DOWN = [
  ...['insert', 'delete', 'update'].map((event) => `DROP TRIGGER posts_search_${event}`),
  'DROP TABLE posts_search',
];
