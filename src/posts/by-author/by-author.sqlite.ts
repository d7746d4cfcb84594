import { POST_VIEW } from '../post.view.js';

/** There is no LATERAL here; a correlated subquery gives the ids, by which the posts are looked up. */
export const NEWEST_BY_AUTHORS = `
  SELECT ${POST_VIEW.replaceAll(/\w+/g, 'post.$&')}
  FROM json_each(:authors) AS author CROSS JOIN posts AS post
  WHERE post.id IN (
    SELECT id FROM posts WHERE author_id = author.value
    ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset
  )
  ORDER BY post.created_at DESC, post.id DESC`;
