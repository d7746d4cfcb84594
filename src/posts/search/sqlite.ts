import { GRAM, type TextMatch } from './text-match.js';

export function containing(folded: string): TextMatch {
  if (Array.from(folded).length < GRAM) {
    return {
      condition: '(instr(title_folded, :text) > 0 OR instr(content_folded, :text) > 0)',
      text: folded,
    };
  }
  // A phrase in quotes has no operators; its trigrams in a row are the text itself.
  return {
    condition: 'id IN (SELECT rowid FROM posts_search WHERE posts_search MATCH :text)',
    text: `"${folded.replaceAll('"', '""')}"`,
  };
}
