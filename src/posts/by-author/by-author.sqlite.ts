import { postSummary } from '../post.view.js';

/** SQLite has no LATERAL; a correlated subquery selects the ids, by which the posts are read. */
export const newestByAuthors = (condition: string): string => `
  SELECT ${postSummary('post')}
  FROM json_each(:authors) AS author CROSS JOIN posts AS post
  WHERE post.id IN (
    SELECT id FROM posts WHERE author_id = author.value AND ${condition}
    ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset
  )
  ORDER BY post.created_at DESC, post.id DESC`;
