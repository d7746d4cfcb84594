import { GRAM, type PostSql } from './post-sql.js';

/** The maximum number of trigrams in a phrase; each costs a lookup in the index. */
const LONGEST = 48;

const CONTAINS = '(instr(title_folded, :text) > 0 OR instr(content_folded, :text) > 0)';

/** Posts whose content is not in the search index. The condition is exactly that of the index `posts_large`. */
const LARGE = 'SELECT id FROM posts WHERE length(content_folded) > 32768';

export const SQLITE_POSTS: PostSql = {
  // SQLite has no LATERAL; a correlated subquery selects the ids, by which the posts are read.
  newestByAuthors: (columns, condition) => `
    SELECT ${columns} FROM (SELECT value AS author FROM json_each(:authors)) CROSS JOIN posts
    WHERE id IN (
      SELECT newest.id FROM posts AS newest WHERE newest.author_id = author AND ${condition}
      ORDER BY newest.created_at DESC, newest.id DESC LIMIT :limit OFFSET :offset
    )
    ORDER BY created_at DESC, id DESC`,

  /**
   * The index finds the posts that contain the start and the end of the text; then the texts of these posts are compared.
   * For each trigram of a phrase, the index visits all of its positions in a post. A phrase must not repeat a trigram,
   * because a long phrase of few different trigrams would take minutes on repetitive text.
   */
  containing(folded) {
    const points = Array.from(folded);
    if (points.length < GRAM)
      return { condition: CONTAINS, scanning: CONTAINS, parameters: { text: folded } };
    const start = withoutRepetition(points);
    const end = withoutRepetition(points.toReversed()).toReversed();
    const phrases = start.length === points.length ? [start] : [start, end];
    return {
      condition: `id IN (SELECT rowid FROM posts_search WHERE posts_search MATCH :phrases UNION ALL ${LARGE}) AND ${CONTAINS}`,
      scanning: CONTAINS,
      parameters: { text: folded, phrases: phrases.map(quote).join(' AND ') },
    };
  },
};

/** The longest start that repeats no trigram. */
function withoutRepetition(points: readonly string[]): string[] {
  const seen = new Set<string>();
  let length = GRAM - 1;
  while (length < points.length && seen.size < LONGEST) {
    const gram = points.slice(length - GRAM + 1, length + 1).join('');
    if (seen.has(gram)) break;
    seen.add(gram);
    length++;
  }
  return points.slice(0, length);
}

/** An FTS5 string, which has no operators. */
const quote = (points: readonly string[]) => `"${points.join('').replaceAll('"', '""')}"`;
