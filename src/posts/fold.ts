/**
 * Text as the search compares it: two texts that differ in letter case alone fold to the same. This is
 * Unicode's full case folding (The Unicode Standard, 3.13), done here and stored, because the databases'
 * own ideas of case differ. Works code point by code point, so a part of a text folds to a part.
 */
export function fold(text: string): string {
  // Upper case first unites what only differs there (ß and SS, ς and σ). Lower-casing alone would look at
  // the neighbours of a final sigma.
  return text.toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
