import { GRAM, type TextMatch } from './text-match.js';

/** Trigrams to a phrase at most; each is a look-up. */
const LONGEST = 48;

const CONTAINS = '(instr(title_folded, :text) > 0 OR instr(content_folded, :text) > 0)';

/** Whose content is not in the index; the text of the condition of the index `posts_large`. */
const LARGE = 'SELECT id FROM posts WHERE length(content_folded) > 32768';

/**
 * The index proposes the posts that have the start and the end of the text, and these are then looked into.
 * It follows each trigram of a phrase through all its places in a post: one that comes twice in the phrase
 * would be followed twice, and a long phrase of few different ones takes minutes on repetitive text.
 */
export function containing(folded: string): TextMatch {
  const points = Array.from(folded);
  if (points.length < GRAM) return { condition: CONTAINS, walking: CONTAINS, parameters: { text: folded } };
  const start = withoutRepetition(points);
  const end = withoutRepetition(points.toReversed()).toReversed();
  const phrases = start.length === points.length ? [start] : [start, end];
  return {
    condition: `id IN (SELECT rowid FROM posts_search WHERE posts_search MATCH :phrases UNION ALL ${LARGE}) AND ${CONTAINS}`,
    walking: CONTAINS,
    parameters: { text: folded, phrases: phrases.map(quote).join(' AND ') },
  };
}

/** The longest start in which no trigram comes twice. */
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
