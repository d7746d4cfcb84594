/**
 * Text as the search compares it: two texts fold to the same when they differ in letter case alone, as
 * Unicode's full case folding has it (The Unicode Standard, 3.13; beyond that, dotless ı is an i). It is
 * done here and stored, because the databases' own ideas of case differ. A part of a text folds to a part
 * of its fold.
 */
export function fold(text: string): string {
  // Through upper case, which unites what lower case leaves apart (ß, ẞ and SS), and back. Which sigma
  // comes out depends on its neighbours, and must not.
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
