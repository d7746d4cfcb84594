import { GRAM, type TextMatch } from './text-match.js';

const CONTAINS = '(strpos(title_folded, :text) > 0 OR strpos(content_folded, :text) > 0)';
const LIKE = '(title_folded LIKE :text OR content_folded LIKE :text)';

export function containing(folded: string): TextMatch {
  if (Array.from(folded).length < GRAM) {
    return { condition: CONTAINS, walking: CONTAINS, parameters: { text: folded } };
  }
  // The trigram index serves `LIKE`; its wildcards are escaped. `OFFSET 0` has the matches found
  // first: else a plan that hopes for many of them walks the whole list in its order and reads each post.
  return {
    condition: `id IN (SELECT id FROM posts WHERE ${LIKE} OFFSET 0)`,
    walking: LIKE,
    parameters: { text: `%${folded.replaceAll(/[\\%_]/g, String.raw`\$&`)}%` },
  };
}
