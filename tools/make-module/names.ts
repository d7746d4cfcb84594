/** The name of a module, in every form that a template needs. */
export interface Names {
  /** `blog-comments` and `blog-comment`, for files and paths. */
  readonly files: string;
  readonly file: string;
}

/** Regular English plurals; `--singular` is for the others. */
export function singularOf(plural: string): string {
  if (/[^aeiou]ies$/.test(plural)) return plural.replace(/ies$/, 'y');
  if (/(ss|x|ch|sh)es$/.test(plural)) return plural.replace(/es$/, '');
  return plural.replace(/s$/, '');
}

export const pascal = (name: string): string =>
  name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

export const camel = (name: string): string =>
  name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

export const snake = (name: string): string => name.replaceAll('-', '_');

const spaced = (name: string): string => name.replaceAll('-', ' ');

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const articleOf = (name: string): string => (/^(?!uni|use|one|eu)[aeiou]/.test(name) ? 'an' : 'a');

/** The template variables of a module. */
export const wordsOf = ({ files, file }: Names): Record<string, string> => ({
  files,
  file,
  Names: pascal(files),
  Name: pascal(file),
  names: camel(files),
  name: camel(file),
  table: snake(files),
  words: spaced(file),
  /** The article of the words. */
  a: articleOf(file),
  A: capitalized(articleOf(file)),
  wordsPlural: spaced(files),
  Words: capitalized(spaced(file)),
  CONSTANT: snake(file).toUpperCase(),
});

/** The template variables of its parent. */
export const parentWordsOf = ({ files, file }: Names): Record<string, string> => ({
  parents: files,
  parentFile: file,
  Parents: pascal(files),
  Parent: pascal(file),
  parent: camel(file),
  parentService: camel(files),
  parentId: `${camel(file)}Id`,
  parentColumn: `${snake(file)}_id`,
  parentWords: spaced(file),
  parentWordsPlural: spaced(files),
  ParentWords: capitalized(spaced(file)),
});
