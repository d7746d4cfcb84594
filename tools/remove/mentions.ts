/** How code and documentation name a module. */
export type Module = {
  /** Its folder: `orders`. */
  files: string;
  Files: string;
  hasGuide: boolean;
  /** Its guides, without `.md`. */
  guides: string[];
  /** Its scripts in `package.json`. */
  scripts: string[];
  /** Its entities: `Order`. */
  types: string[];
  tables: string[];
  /** The first parts of its events: `order`. */
  resources: string[];
  metrics: string[];
  /** The alerts on its metrics. */
  alerts: string[];
  /** Its tests, as a command names them. */
  tests: string[];
  /** The settings that nothing else reads: properties of `Config`, and their variables. */
  properties: string[];
  variables: string[];
};

const NOTHING = '(?!)';
const oneOf = (words: readonly string[]): string => `(?:${words.join('|') || NOTHING})`;

/** A tag, a table or a test: in a list, the name alone means the module. */
export const isNameOf = (text: string, { Files, tables, tests }: Module): boolean =>
  [Files, ...tables, ...tests].includes(text);

/** Texts in code that can only mean the module: a path, an operation, an event, a setting, a column. */
export const mentionOf = (module: Module): RegExp => {
  const { files, Files, types, tables, resources, variables } = module;
  return new RegExp(
    [
      String.raw`/(v\d+|guides|commands)/${files}\b|bench/${files}/|client/${files}\.ts|#/(${files}|${Files})\b|(?<![^'"\`])${files}#|\b(query|mutation|subscription) ${oneOf([Files, ...types])}\b|[\s{]${files}(\(| \{)`,
      String.raw`\b(create|update|delete)${oneOf(types)}\b`,
      String.raw`(?<![^'"\`])(${oneOf(variables)}|${oneOf(tables)}\.\w+|${oneOf(resources)}\.(\w+|\*))(?![^'"\`])`,
    ].join('|'),
  );
};

/**
 * Removes a module that has a guide from texts: its rows, items, sections and links, and, if its name means nothing
 * else, its name from enumerations.
 */
export function withoutWords(text: string, { files, tables, ...module }: Module): string {
  const { resources, metrics, alerts, variables, guides, scripts } = module;
  const rows = String.raw`(\w+ )?/v\d/${files}\b|${oneOf(resources)}\.|${oneOf([...metrics, ...variables])}\b|npm run (remove -- ${files}|${oneOf(scripts)})(?![\w:-])`;
  return [
    [String.raw`^(?:-|\d+\.) (?:\w+ ){0,2}\[[^\]]*\]\([^)]*\b${oneOf(guides)}\.md\b[^)]*\).*\n`, ''],
    [String.raw`^npm run ${oneOf(scripts)}( .*)?\n`, ''],
    [String.raw`^\| \`?(${rows}).*\n`, ''],
    [String.raw`^( +)- (alert|name): ${oneOf(alerts)}\n(\1 .*\n)*`, ''],
    [String.raw`^#+ ${oneOf(alerts)}\n((?!#).*\n)*`, ''],
    [
      String.raw`\[([^\]]*)\]\((?:(?:\.\./|docs/)?${oneOf(guides)}\.md|examples/client/${files}\.ts)[^)]*\)`,
      '$1',
    ],
    [String.raw`\|v\d\\/${files}\b`, ''],
    ...(tables.length === 0
      ? []
      : [
          [String.raw`, ${files}(?=[,\]])`, ''],
          [String.raw`, ((?:the )?\w+) (and|or) ${files}\b`, ' $2 $1'],
          [String.raw`, ${files} (and|or) `, ' $1 '],
          [String.raw`(?<=(?:\bfor|\bof|;) )${files}(,| and) `, ''],
          [String.raw`(?<=\S) (and|or) ${files}\b`, ''],
        ]),
  ].reduce((rest, [from, to]) => rest.replaceAll(new RegExp(from!, 'gim'), to!), text);
}

/** Removes the panels of a module from a dashboard, with the row that is titled for it. */
export function withoutPanels(text: string, { Files, metrics }: Module): string {
  const dashboard = JSON.parse(text) as { panels: { title: string }[] };
  const isOwn = new RegExp(String.raw`\b${oneOf(metrics)}\b`);
  const panels = dashboard.panels.filter(
    (panel) => panel.title !== Files && !isOwn.test(JSON.stringify(panel)),
  );
  return panels.length === dashboard.panels.length ? text : JSON.stringify({ ...dashboard, panels }, null, 2);
}
