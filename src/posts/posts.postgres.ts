import { GRAM, type PostSql } from './post-sql.js';

const CONTAINS = '(strpos(title_folded, :text) > 0 OR strpos(content_folded, :text) > 0)';
const LIKE = '(title_folded LIKE :text OR content_folded LIKE :text)';

export const POSTGRES_POSTS: PostSql = {
  newestByAuthors: (columns, condition) => `
    SELECT found.* FROM json_array_elements_text(:authors::json) AS author (id) CROSS JOIN LATERAL (
      SELECT ${columns} FROM posts WHERE author_id = author.id::bigint AND ${condition}
      ORDER BY created_at DESC, id DESC LIMIT :limit OFFSET :offset
    ) AS found
    ORDER BY found.created_at DESC, found.id DESC`,

  containing(folded) {
    if (Array.from(folded).length < GRAM) {
      return { condition: CONTAINS, scanning: CONTAINS, parameters: { text: folded } };
    }
    // The trigram index serves `LIKE`; its wildcards are escaped. `OFFSET 0` makes
    // PostgreSQL find the matches first. Otherwise, if it expects many, it reads all posts in the order of the list.
    return {
      condition: `id IN (SELECT id FROM posts WHERE ${LIKE} OFFSET 0)`,
      scanning: LIKE,
      parameters: { text: `%${folded.replaceAll(/[\\%_]/g, String.raw`\$&`)}%` },
    };
  },
};
