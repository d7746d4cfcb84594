import { GRAM, type TextMatch } from './text-match.js';

const CONTAINS = '(instr(title_folded, :text) > 0 OR instr(content_folded, :text) > 0)';

/** A trigram of the text as an FTS5 string, which has no operators; from its first or its last code point. */
const gram = (start: string) => `'"' || replace(substr(:text, ${start}, ${GRAM}), '"', '""') || '"'`;

/**
 * The index only proposes, by two trigrams: a phrase of many would be matched position by position, for
 * minutes on repetitive text.
 */
export function containing(folded: string): TextMatch {
  if (Array.from(folded).length < GRAM) return { condition: CONTAINS, text: folded };
  const candidates = `SELECT rowid FROM posts_search WHERE posts_search MATCH ${gram('1')} || ' AND ' || ${gram(`-${GRAM}`)}`;
  return { condition: `id IN (${candidates}) AND ${CONTAINS}`, text: folded };
}
