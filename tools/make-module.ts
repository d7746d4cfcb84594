/**
 * `npm run make:module -- comments [--singular comment]`: a new module like the others, that is served at once.
 *
 * Everything that is made or changed is printed; nothing is, when the name cannot be used.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const TEMPLATES = 'tools/module-template';

/** Names that are something else already, here or in the languages that a module is written in. */
const RESERVED =
  /^(admin|auth|cursor|docs|graphql|health|me|migrations|open-?api|types?|news|class|enum|function|import|index|interface|null|order|queries|query|string|true|void)$/;

/** What `npm run contracts` writes. */
const CONTRACTS = ['schema.gql', 'public/openapi.json', 'examples/client/api.d.ts'];

class Refusal extends Error {}

interface Names {
  /** `blog-comments` and `blog-comment`, for files and paths. */
  readonly files: string;
  readonly file: string;
}

function main(): void {
  const { values, positionals } = parseArgs({
    options: { singular: { type: 'string' } },
    allowPositionals: true,
  });
  const [files = '', ...more] = positionals;
  if (files === '' || more.length > 0)
    throw new Refusal('Usage: npm run make:module -- comments [--singular comment]');
  const names = { files, file: values.singular ?? singularOf(files) };
  check(names);

  const words = variables(names);
  for (const [template, target] of targets(names, words['stamp']!)) {
    write(target, fill(readFileSync(`${TEMPLATES}/${template}`, 'utf8'), words));
  }
  register(names, words);
  execFileSync('npx', [
    'prettier',
    '--write',
    '--log-level',
    'warn',
    'src',
    'test',
    '.dependency-cruiser.json',
  ]);
  execFileSync('npm', ['run', '--silent', 'contracts'], { stdio: ['ignore', 'inherit', 'inherit'] });
  for (const file of CONTRACTS) console.log(`${'changed'.padEnd(8)}${file}`);
  console.log('\nNext: npm run check, and npm start. docs/extending.md goes on from here.');
}

/** English as far as it is regular; `--singular` says it for the rest. */
function singularOf(plural: string): string {
  if (/[^aeiou]ies$/.test(plural)) return plural.replace(/ies$/, 'y');
  if (/(ss|x|ch|sh)es$/.test(plural)) return plural.replace(/es$/, '');
  return plural.replace(/s$/, '');
}

function check({ files, file }: Names): void {
  for (const name of [files, file]) {
    if (!/^[a-z]+(-[a-z]+)*$/.test(name)) {
      throw new Refusal(
        `"${name}" cannot be a name: it takes small letters, with single hyphens between words`,
      );
    }
    if (RESERVED.test(name)) throw new Refusal(`"${name}" means something else already`);
  }
  if (files === file)
    throw new Refusal(
      `"${files}" does not look like a plural; say what one is: npm run make:module -- ${files} --singular …`,
    );
  if (files.length > 40) throw new Refusal(`"${files}" is too long: 40 letters at most`);
  const taken = [`src/${files}`, `test/${files}.e2e-spec.ts`].find(existsSync);
  if (taken) throw new Refusal(`"${files}" is taken: there is ${taken} already`);
  const types = readFileSync('schema.gql', 'utf8');
  if (new RegExp(`^(type|input|enum|scalar) ${pascal(file)}\\b`, 'm').test(types)) {
    throw new Refusal(`"${file}" is taken: the schema has a type ${pascal(file)} already`);
  }
  const table = files.replaceAll('-', '_');
  const migrations = readdirSync('src/database/migrations', { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(`${entry.parentPath}/${entry.name}`, 'utf8'));
  if (migrations.some((text) => new RegExp(`CREATE (VIRTUAL )?TABLE ${table}\\b`).test(text))) {
    throw new Refusal(`"${files}" is taken: there is a table ${table} already`);
  }
}

function variables({ files, file }: Names): Record<string, string> {
  const words = file.replaceAll('-', ' ');
  return {
    files,
    file,
    Names: pascal(files),
    Name: pascal(file),
    names: camel(files),
    name: camel(file),
    table: files.replaceAll('-', '_'),
    words,
    wordsPlural: files.replaceAll('-', ' '),
    Words: words.charAt(0).toUpperCase() + words.slice(1),
    stamp: String(Date.now()),
  };
}

const targets = ({ files, file }: Names, stamp: string): [template: string, target: string][] => [
  ['entity.ts.template', `src/${files}/${file}.entity.ts`],
  ['input.ts.template', `src/${files}/${file}.input.ts`],
  ['view.ts.template', `src/${files}/${file}.view.ts`],
  ['type.ts.template', `src/${files}/${file}.type.ts`],
  ['service.ts.template', `src/${files}/${files}.service.ts`],
  ['controller.ts.template', `src/${files}/${files}.controller.ts`],
  ['resolver.ts.template', `src/${files}/${files}.resolver.ts`],
  ['module.ts.template', `src/${files}/${files}.module.ts`],
  ['migration.ts.template', `src/database/migrations/${stamp}-${files}.ts`],
  ['e2e-spec.ts.template', `test/${files}.e2e-spec.ts`],
];

/** Makes the module known where modules and boundaries are listed. */
function register({ files }: Names, { Names: name }: Record<string, string>): void {
  edit('src/app.module.ts', (text) =>
    text
      .replace(IMPORTS, (imports) =>
        insertSorted(imports, `import { ${name}Module } from './${files}/${files}.module.js';`),
      )
      .replace(/(\n +)(AuthModule,)/, `$1${name}Module,$1$2`),
  );
  edit('.dependency-cruiser.json', (text) =>
    text.replaceAll(/\(([^()]*\bposts\b[^()]*)\)/g, `($1|${files})`),
  );
}

/** The imports of a file from its own project, which are in the order of their paths. */
const IMPORTS = /(import .* from '\.\/.*';\n)+/;

function insertSorted(imports: string, line: string): string {
  const path = (text: string) => text.slice(text.indexOf(' from '));
  return [...imports.trimEnd().split('\n'), line]
    .toSorted((a, b) => (path(a) < path(b) ? -1 : 1))
    .map((text) => `${text}\n`)
    .join('');
}

function edit(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, 'utf8');
  const changed = change(text);
  if (changed === text) throw new Error(`${file} does not look as it should; the module is not known there`);
  write(file, changed, 'changed');
}

function write(file: string, text: string, what = 'made'): void {
  mkdirSync(file.slice(0, file.lastIndexOf('/') + 1) || '.', { recursive: true });
  writeFileSync(file, text);
  console.log(`${what.padEnd(8)}${file}`);
}

const fill = (text: string, words: Record<string, string>): string =>
  text.replaceAll(/\{\{(\w+)\}\}/g, (_, word: string) => words[word]!);

const pascal = (name: string): string =>
  name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const camel = (name: string): string =>
  name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());

try {
  main();
} catch (error) {
  const { code = '', message } = error as NodeJS.ErrnoException;
  if (!(error instanceof Refusal) && !code.startsWith('ERR_PARSE_ARGS')) throw error;
  console.error(message);
  process.exitCode = 1;
}
