/**
 * Text in the form that the search compares: texts that differ only in letter case have the same form, by
 * Unicode's full case folding (The Unicode Standard, 3.13; in addition, dotless ı equals i). It is
 * computed here and stored, because the databases treat case differently. The form of a part of a text is
 * a part of the form of the text.
 */
export function caseFold(text: string): string {
  // Upper case makes letters equal that differ in lower case (ß, ẞ and SS). The sigma of the last step depends on its
  // neighbours, so all become the same.
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
