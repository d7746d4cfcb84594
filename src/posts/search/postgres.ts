import { GRAM, type TextMatch } from './text-match.js';

export function containing(folded: string): TextMatch {
  if (Array.from(folded).length < GRAM) {
    return {
      condition: '(strpos(title_folded, :text) > 0 OR strpos(content_folded, :text) > 0)',
      text: folded,
    };
  }
  // `LIKE` is what the trigram index answers; its wildcards are escaped. `OFFSET 0` has the matches found
  // first: else a plan that hopes for many of them walks the whole list in its order and reads each post.
  return {
    condition: `id IN (SELECT id FROM posts WHERE title_folded LIKE :text OR content_folded LIKE :text OFFSET 0)`,
    text: `%${folded.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`,
  };
}
