import { postSummary } from '../post.view.js';

export const newestByAuthors = (condition: string): string => `
  SELECT found.* FROM json_array_elements_text(:authors::json) AS author (id) CROSS JOIN LATERAL (
    SELECT ${postSummary('post')} FROM posts AS post WHERE post.author_id = author.id::bigint AND ${condition}
    ORDER BY post.created_at DESC, post.id DESC LIMIT :limit OFFSET :offset
  ) AS found
  ORDER BY found.created_at DESC, found.id DESC`;
