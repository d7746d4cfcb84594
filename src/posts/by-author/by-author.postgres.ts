import { POST_VIEW } from '../post.view.js';

export const NEWEST_BY_AUTHORS = `
  SELECT ${POST_VIEW.replaceAll(/\w+/g, 'post.$&')}
  FROM json_array_elements_text(:authors::json) AS author (id) CROSS JOIN LATERAL (
    SELECT ${POST_VIEW} FROM posts WHERE author_id = author.id::bigint
    ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset
  ) AS post
  ORDER BY post.created_at DESC, post.id DESC`;
