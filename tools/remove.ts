/**
 * `npm run remove -- comments`: removes modules with their tests, guides, tables, and the lines that name them. It prints
 * everything that it changes, and what is left to a person; it does not change a module that others use.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { isRegistered, remove, renewContracts, write } from './make-module/files.ts';
import { InputError } from './make-module/input-error.ts';
import { pascal } from './make-module/names.ts';
import { rejectPart } from './remove/by-hand.ts';
import { withoutModule, withoutUnused } from './remove/code.ts';
import { inDatabase } from './remove/in-database.ts';
import { isNameOf, mentionOf, type Module, withoutPanels, withoutWords } from './remove/mentions.ts';
import { dropTables } from './remove/tables.ts';

const USAGE = `Usage: npm run remove -- <names>…
Removes src/<names> with its tests, guides, tables and the lines that name it, and prints what is left to do. Name first
what uses the others: posts users. For graphql and social-login, it lists what you have to do.`;

const TEXTS = [
  '{src,test,bench,examples,web,public/playground}/**/*.{ts,tsx,js}',
  '{README,CONTRIBUTING,{docs,bench}/**/*}.md',
  'public/site/*.html',
  'deploy/**/*.{yaml,yml}',
  'deploy/monitoring/*.json',
];
/** Migrations that have run, records of what was decided, code of others, and tests whose packages are not installed. */
const EXCLUDED = ['**/migrations/*', '**/decisions/*', '**/vendor/**', '**/api.d.ts', 'test/extra/*'];
const SETTINGS = 'src/platform/config/schema.ts';
const FAULTS = 'test/faults.json';

interface Removed {
  readonly module: Module;
  readonly subscribers: readonly string[];
}

async function main(): Promise<void> {
  const { positionals: names } = parseCommandLine(USAGE, { allowPositionals: true });
  if (names.length === 0) throw new InputError(USAGE);
  for (const name of names) rejectPart(name);
  for (const files of names)
    if (!isRegistered(files, pascal(files)))
      throw new InputError(`"${files}" cannot be removed: src/app.module.ts does not list it`);
  const removed: Removed[] = [];
  try {
    for (const files of names) removed.push(removeModule(files));
  } finally {
    if (removed.length > 0) tidy();
  }
  const left = removed.flatMap(({ module }) => linesWith(module));
  const [resources, subscribers] = [
    removed.flatMap(({ module }) => module.resources),
    removed.flatMap((each) => each.subscribers),
  ];
  console.log(nextSteps([...new Set(left), ...(await inDatabase(resources, subscribers))]));
}

/** @throws InputError if others use it */
function removeModule(files: string): Removed {
  const folders = [`src/${files}`, `src/commands/${files}`, `bench/${files}`].filter(existsSync);
  const isNamed = (file: string, name: string) =>
    `-${basename(file)}`.replaceAll('.', '-').includes(`-${name}-`);
  const longer = globSync('src/*')
    .map((path) => basename(path))
    .filter((name) => name !== files && isNamed(`${name}.`, files));
  const own = globSync(['{test,bench,examples,web}/**/*.{ts,tsx}', 'docs/*.md'], {
    exclude: ['test/recipes/**', `bench/${files}/**`],
  }).filter((file) => isNamed(file, files) && !longer.some((name) => isNamed(file, name)));
  const isOwn = (file: string) =>
    own.includes(file) || folders.some((folder) => file.startsWith(`${folder}/`));
  const module = describe(files, own, isOwn);
  const { hasGuide } = module;
  const mention = mentionOf(module);
  const isMention = (text: string, isListed: boolean) =>
    mention.test(text) || (isListed && isNameOf(text, module));
  const isProperty = (name: string, value: string) =>
    module.properties.includes(name) || (name === files && /^[A-Z]+$/.test(value));
  const changes = new Map<string, string>();
  const [uses, tests]: [string[], string[]] = [[], []];
  for (const file of globSync(TEXTS, { exclude: [...EXCLUDED, ...ofRecipe(files)] })) {
    if (isOwn(file)) continue;
    const text = readFileSync(file, 'utf8');
    const words = file.endsWith('.json') ? withoutPanels : withoutWords;
    const rest = hasGuide ? words(text, module) : text;
    const isImport = (path: string) =>
      ['.ts', '.tsx'].some((suffix) => isOwn(join(file, '..', path).replace(/\.js$/, suffix)));
    const code = /\.(js|tsx?)$/.test(file)
      ? withoutModule(
          file,
          rest,
          { isImport, isMention, isProperty },
          !file.startsWith('src/') || file.endsWith('.spec.ts'),
        )
      : { text: rest, uses: [], tests: [] };
    uses.push(...code.uses.map((line) => `${file}: ${line}`));
    tests.push(...code.tests.map((title) => `${file}: ${title}`));
    if (code.text !== text) changes.set(file, code.text);
  }
  for (const file of ['package.json', 'knip.json']) {
    const text = readFileSync(file, 'utf8');
    const paths = [...own, `(src|dist|bench)/(commands/)?${files}/`].join('|');
    const rest = text.replaceAll(new RegExp(`^.*[" ](${paths}).*\n`, 'gm'), '');
    if (rest !== text) changes.set(file, rest);
  }
  if (uses.length > 0)
    throw new InputError(`"${files}" cannot be removed: it is used by\n${uses.join('\n')}`);
  const subscribers = matchesIn(
    `src/${files}/*.ts`,
    /(?:@OnDurableEvent|subscribers\.register)\(\{[^}]*?\bname: '([^']+)'/g,
  );
  if (module.tables.length > 0) dropTables(files, module.tables);
  else if (!hasGuide) throw new InputError(`"${files}" cannot be removed: it has neither tables nor a guide`);

  for (const file of [...own, ...folders]) remove(file);
  for (const [file, text] of changes) write(file, text, 'changed');
  for (const test of tests) console.log(`removed the test ${test}`);
  return { module, subscribers };
}

/** Removes what only the modules have used: files, exports and packages. */
function tidy(): void {
  const run = (command: string, ...parameters: string[]) =>
    execFileSync(command, parameters, { stdio: ['ignore', 'inherit', 'inherit'] });
  // Without its declaration, what only that has used is unused, too.
  do run('npx', 'knip', '--fix', '--allow-remove-files', '--no-exit-code');
  while (removeUnused());
  removeFaults();
  run('npm', 'install', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund');
  run('npm', 'run', '--silent', 'format');
  renewContracts();
}

/** Removes the faults of sources that are gone, and those that tests of the modules have noticed. */
function removeFaults(): void {
  const faults: { text: string; noticedBy?: string }[] = JSON.parse(readFileSync(FAULTS, 'utf8'));
  const sources = globSync('src/**/*.ts').map((file) => readFileSync(file, 'utf8'));
  const rest = faults.filter(
    ({ text, noticedBy }) =>
      (noticedBy === undefined || existsSync(noticedBy)) && sources.some((source) => source.includes(text)),
  );
  if (rest.length < faults.length) write(FAULTS, `${JSON.stringify(rest, null, 2)}\n`, 'changed');
}

/** @returns whether there was any */
function removeUnused(): boolean {
  const changes = globSync('{src,web,tools}/**/*.{ts,tsx}', {
    exclude: ['**/template/**', '**/*.d.ts'],
  }).flatMap((file) => {
    const text = readFileSync(file, 'utf8');
    const rest = withoutUnused(file, text);
    return rest === text ? [] : [[file, rest] as const];
  });
  for (const [file, rest] of changes) write(file, rest, 'changed');
  return changes.length > 0;
}

function describe(files: string, own: readonly string[], isOwn: (file: string) => boolean): Module {
  const metrics = matchesIn(`src/${files}/*.ts`, /\b(?:name|count|age): '([a-z]+_\w+)'/g);
  const settings = matchesIn(SETTINGS, /^ +(\w+: (?:setting|secret)\('\w+')/gm)
    .map((text) => text.match(/\w+/g)!)
    .filter(([property = '']) => isReadOnlyBy(isOwn, property));
  return {
    files,
    Files: pascal(files),
    hasGuide: existsSync(`docs/${files}.md`),
    guides: own.filter((file) => file.endsWith('.md')).map((file) => basename(file, '.md')),
    scripts: matchesIn('package.json', new RegExp(`"([\\w:]+)": ".*(?:commands|bench)/${files}/`, 'g')),
    tests: own
      .map((file) => basename(file).replace(/(\.e2e-spec)?\.ts$/, ''))
      .flatMap((name) => [`${name}.e2e`, ...(name === files ? [] : [name])]),
    types: globSync(`src/${files}/*.entity.ts`).map((file) => pascal(basename(file, '.entity.ts'))),
    tables: matchesIn(`src/${files}/*.entity.ts`, /@Entity\('(\w+)'/g),
    resources: matchesIn(`src/${files}/*.events.ts`, /resource: '([^']+)'/g),
    metrics,
    alerts: matchesIn('deploy/monitoring/rules.yml', /- (alert: \w+\n(?: {8}.*\n)*)/g)
      .filter((text) => metrics.some((name) => text.includes(name)))
      .map((text) => /alert: (\w+)/.exec(text)![1]!),
    properties: settings.map(([property = '']) => property),
    variables: settings.map(([, , variable = '']) => variable),
  };
}

/** Whether a module reads a setting, and nothing else does. */
function isReadOnlyBy(isOwn: (file: string) => boolean, property: string): boolean {
  const readers = globSync('src/**/*.ts').filter(
    (file) =>
      file !== SETTINGS &&
      !file.endsWith('.spec.ts') &&
      new RegExp(String.raw`\b${property}\b`).test(readFileSync(file, 'utf8')),
  );
  return readers.length > 0 && readers.every(isOwn);
}

const matchesIn = (files: string, pattern: RegExp): string[] =>
  globSync(files).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, each]) => each!),
  );

/** A recipe of the same name is another module. */
const ofRecipe = (files: string): string[] =>
  existsSync(`test/recipes/guide/${files}`) ? ['test/recipes/guide/**', 'docs/recipes.md'] : [];

/** The lines that still name a module, with their places. */
function linesWith(module: Module): string[] {
  const { files, Files, hasGuide, tables, scripts } = module;
  const words = [
    ...(hasGuide && tables.length > 0 ? [`(?<![/@])${files}(?![.%-])`, `${Files}(?! API|%)`] : []),
    ...scripts.map((name) => `npm run ${name}`),
    `src/${files}`,
  ];
  const mention = new RegExp(`${mentionOf(module).source}|\\b(${words.join('|') || '(?!)'})(?![\\w:-])`);
  return globSync([...TEXTS, 'test/extra/*.ts'], {
    exclude: [...EXCLUDED.slice(0, -1), ...ofRecipe(files)],
  }).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, n) => (mention.test(line) ? [`${file}:${n + 1} ${line.trim().slice(0, 100)}`] : [])),
  );
}

const nextSteps = (left: readonly string[]): string => `
${left.length > 0 ? `Stays behind:\n${left.map((each) => `- ${each}\n`).join('')}\n` : ''}Next:
1. npm run check
2. docs/extending.md, "Remove a module": when to run the new migration, and what to check in a database`;

try {
  await main();
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
