import { GRAM, type TextMatch } from './text-match.js';

const CONTAINS = '(strpos(title_folded, :text) > 0 OR strpos(content_folded, :text) > 0)';
const LIKE = '(title_folded LIKE :text OR content_folded LIKE :text)';

export function containing(folded: string): TextMatch {
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
}
