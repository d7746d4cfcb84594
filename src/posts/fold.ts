/**
 * Text as the search compares it: two texts that differ in letter case alone fold to the same. This is
 * Unicode's full case folding (The Unicode Standard, 3.13; beyond it, dotless ı is an i), done here and
 * stored, because the databases' own ideas of case differ. A part of a text folds to a part of its fold.
 */
export function fold(text: string): string {
  // Through upper case, which unites what lower case leaves apart (ß, ẞ and SS), and back. Which sigma
  // comes out depends on its neighbours, and must not.
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
