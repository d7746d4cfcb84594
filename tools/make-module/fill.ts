/** The variables of a template. */
export type Words = Readonly<Record<string, string>>;

/** Sections that are repeated, with the variables of each. */
export type Lists = Readonly<Record<string, readonly Words[]>>;

const SECTION = /\{\{([#^])(\w+)\}\}([^]*?)\{\{\/\2\}\}/g;
const IMPORT = /^(import (?:type )?)\{ (.*) \}( from .*\n)/gm;

/**
 * Fills a template: `{{word}}` is its value; `{{#word}}…{{/word}}` stays if the word has a value, `{{^word}}…{{/word}}`
 * if it has none. What the file then imports and does not use is removed.
 */
export const fillTemplate = (template: string, words: Words, lists: Lists): string =>
  // A tag on a line of its own leaves no empty line.
  withoutUnusedImports(fill(template.replaceAll(/^ *(\{\{[#^/]\w+\}\})\n/gm, '$1'), words, lists));

function fill(text: string, words: Words, lists: Lists = {}): string {
  return text
    .replaceAll(SECTION, (_, sign: string, word: string, section: string) => {
      const list = lists[word];
      if (list) return list.map((each) => fill(section, { ...words, ...each })).join('');
      return Boolean(words[word]) === (sign === '#') ? fill(section, words, lists) : '';
    })
    .replaceAll(/\{\{(\w+)\}\}/g, (_, word: string) => words[word] ?? '');
}

function withoutUnusedImports(text: string): string {
  const code = text.replaceAll(IMPORT, '');
  return text.replaceAll(IMPORT, (_, start: string, names: string, end: string) => {
    const isUsed = (name: string) => new RegExp(`\\b${name.replace('type ', '')}\\b`).test(code);
    const used = names.split(', ').filter(isUsed);
    return used.length > 0 ? `${start}{ ${used.join(', ')} }${end}` : '';
  });
}
