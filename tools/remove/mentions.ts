/** How code and documentation name a module: `orders`, `Orders`, its entities (`Order`), and events (`order.…`). */
export type Module = { files: string; Files: string; types: string[]; resources: string[] };

/** Code that can only mean the module: a path, a mutation, an event, a tag, an example or a list in the export. */
export const mentionOf = ({ files, Files, types, resources }: Module): RegExp =>
  new RegExp(
    [
      String.raw`/v\d+/${files}\b|^\s*\['${Files}', '|\.addTag\('${Files}'|\bquery ${Files}\b|^\s*${files}: [A-Z]+,$`,
      ...types.map((type) => String.raw`\b(create|update|delete)${type}\b`),
      ...resources.map((resource) => `['"\`]${resource}\\.(\\w+|\\*)['"\`]`),
    ].join('|'),
  );

/** Removes from code what it imports of a module, and the elements of lists and objects that name it. */
export function withoutModule(text: string, mention: RegExp, isRemoved: (path: string) => boolean): string {
  const imported: string[] = [];
  const rest = text.replaceAll(
    /^import ([^;]*?) from '(\.[^']+)';\n/gm,
    (line, names: string, path: string) => {
      if (!isRemoved(path)) return line;
      imported.push(...names.match(/\w+/g)!.filter((name) => name !== 'type'));
      return '';
    },
  );
  const isUse = new RegExp(String.raw`^\s*(\.\.\.)?(${imported.join('|') || '(?!)'})\b.*[,;]$`);
  const lines = rest.split('\n').filter((line) => !isUse.test(line));
  for (let n = 0; n < lines.length; n++) {
    if (!mention.test(lines[n]!)) continue;
    const [start, end] = isElement(lines, n) ? [n, n] : blockAround(lines, n);
    lines.splice(start, end - start + 1);
    if (end >= start) n = start - 1;
  }
  return lines.join('\n');
}

/** Whether a line is a whole element or property, or a call of a chain. */
const isElement = (lines: readonly string[], n: number): boolean =>
  /^\s*\.\w+\(.*\)$/.test(lines[n]!) ||
  (/^\s*(\w+: \w+|(['"[{]|\.\.\.).*),$/.test(lines[n]!) && /[,[({]$/.test(lines[n - 1] ?? ''));

/** The lines of the element or property around a line, such as `{ … },`; none if it is something else. */
function blockAround(lines: readonly string[], n: number): [start: number, end: number] {
  for (let start = n - 1; start >= 0; start--) {
    if (!/^ *(('[^']*'|\w+): (\(\) => \()?)?\{$/.test(lines[start]!)) continue;
    const indent = /^ */.exec(lines[start]!)![0];
    const end = lines.findIndex((line, at) => at > start && [`${indent}},`, `${indent}}),`].includes(line));
    if (end > n && end < start + 40) return [start, end];
  }
  return [n + 1, n];
}

/** Removes a module that has a guide from texts: its rows, items and links, and its name from enumerations. */
export const withoutWords = (text: string, { files, resources }: Module): string =>
  [
    [String.raw`^- \[[^\]]*\]\([^)]*\b${files}\.md\b[^)]*\).*\n`, ''],
    [String.raw`^\| \`?((\w+ )?/v\d/${files}\b|(${resources.join('|')})\.).*\n`, ''],
    [String.raw`\[([^\]]*)\]\((?:\.\./|docs/)?${files}\.md[^)]*\)`, '$1'],
    [String.raw`, '?${files}'?(?=[,\]])|\|v\d\\/${files}\b`, ''],
    [String.raw`, (\w+) (and|or) ${files}\b`, ' $2 $1'],
    [String.raw`(?<=(?:\bfor|\bof|;) )${files}(,| and) `, ''],
    [String.raw`(?<=\S) (and|or) ${files}\b`, ''],
  ].reduce((rest, [from, to]) => rest.replaceAll(new RegExp(from!, 'gim'), to!), text);
