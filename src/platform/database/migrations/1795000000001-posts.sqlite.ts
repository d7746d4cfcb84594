/** One slot is enough: there is one writer. */
const count = (row: 'old' | 'new', amount: 1 | -1) => `
  INSERT INTO post_totals (scope, slot, total)
  VALUES ('status=' || ${row}.status, 0, ${amount}), ('author=' || ${row}.author_id, 0, ${amount})
  ON CONFLICT (scope, slot) DO UPDATE SET total = total + ${amount};`;

/** In code points. Indexing 1,000 code points of random text blocks the process for 0.7 ms. */
const INDEXED = 32_768;

const indexed = (row: 'old' | 'new') =>
  `${row}.id, ${row}.title_folded, iif(length(${row}.content_folded) > ${INDEXED}, '', ${row}.content_folded)`;

const remove = `INSERT INTO posts_search (posts_search, rowid, title_folded, content_folded)
  SELECT 'delete', ${indexed('old')};`;

const add = `INSERT INTO posts_search (rowid, title_folded, content_folded) SELECT ${indexed('new')};`;

export const SQLITE_UP = [
  `CREATE TRIGGER post_totals_insert AFTER INSERT ON posts BEGIN ${count('new', 1)} END`,
  `CREATE TRIGGER post_totals_delete AFTER DELETE ON posts BEGIN ${count('old', -1)} END`,
  `CREATE TRIGGER post_totals_update AFTER UPDATE OF status, author_id ON posts
   WHEN old.status <> new.status OR old.author_id <> new.author_id
   BEGIN ${count('old', -1)} ${count('new', 1)} END`,

  `CREATE TRIGGER post_views_insert AFTER INSERT ON posts
   BEGIN INSERT INTO post_views (post_id, post_status, views) VALUES (new.id, new.status, 0); END`,
  `CREATE TRIGGER post_views_update AFTER UPDATE OF status ON posts WHEN old.status <> new.status
   BEGIN UPDATE post_views SET post_status = new.status WHERE post_id = new.id; END`,

  // The index alone, without a copy of the text (https://sqlite.org/fts5.html#external_content_tables). The text is
  // already case-folded, and accents are significant.
  `CREATE VIRTUAL TABLE posts_search USING fts5 (
     title_folded, content_folded, content = 'posts', content_rowid = 'id',
     tokenize = 'trigram case_sensitive 1'
   )`,
  `CREATE TRIGGER posts_search_insert AFTER INSERT ON posts BEGIN ${add} END`,
  `CREATE TRIGGER posts_search_delete AFTER DELETE ON posts BEGIN ${remove} END`,
  `CREATE TRIGGER posts_search_update AFTER UPDATE OF title_folded, content_folded ON posts
   WHEN old.title_folded <> new.title_folded OR old.content_folded <> new.content_folded
   BEGIN ${remove} ${add} END`,
  // The search reads these posts one by one. It must repeat this condition exactly, or SQLite does not use the index.
  `CREATE INDEX posts_large ON posts (id) WHERE length(content_folded) > ${INDEXED}`,
];

/** The triggers and indexes of `posts` are dropped with it. */
export const SQLITE_DOWN = ['DROP TABLE posts_search'];
