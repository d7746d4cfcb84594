export const UP = [
  'CREATE EXTENSION IF NOT EXISTS pg_trgm',
  'CREATE INDEX posts_title_search ON posts USING gin (title_folded gin_trgm_ops)',
  'CREATE INDEX posts_content_search ON posts USING gin (content_folded gin_trgm_ops)',
];

/** Keeps the extension, because another schema may use it. */
export const DOWN = ['DROP INDEX posts_title_search', 'DROP INDEX posts_content_search'];
