/**
 * `npm run remove -- comments`: removes a module with its tests, its guide, its tables, and the lines that name it.
 * It prints everything that it changes, and what is left to a person; it changes nothing if others use the module.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { isRegistered, remove, renewContracts, write } from './make-module/files.ts';
import { InputError } from './make-module/input-error.ts';
import { pascal } from './make-module/names.ts';
import { inDatabase } from './remove/in-database.ts';
import { mentionOf, type Module, withoutModule, withoutWords } from './remove/mentions.ts';
import { dropTables } from './remove/tables.ts';

const USAGE = `Usage: npm run remove -- <names>
Removes src/<names> with its tests, guide, tables and the lines that name it, and prints what is left to do.`;

const CODE = '{src,test,bench,public/playground}/**/*.{ts,js}';
const TEXTS = [CODE, '{README,CONTRIBUTING,{docs,bench}/**/*}.md', 'public/site/*.html', 'deploy/**/*.yaml'];
/** Migrations that have run, records of what was decided, and code of others. */
const EXCLUDED = ['**/migrations/*', '**/decisions/*', '**/vendor/**'];

async function main(): Promise<void> {
  const { positionals } = parseCommandLine(USAGE, { allowPositionals: true });
  const [files = '', ...more] = positionals;
  if (files === '' || more.length > 0) throw new InputError(USAGE);
  if (!isRegistered(files, pascal(files)))
    throw new InputError(`"${files}" cannot be removed: src/app.module.ts does not list it`);
  const isNamed = (file: string, name: string) =>
    `-${basename(file)}`.replaceAll('.', '-').includes(`-${name}-`);
  const longer = globSync('src/*')
    .map((path) => basename(path))
    .filter((name) => name !== files && isNamed(`${name}.`, files));
  const own = globSync(['{test,bench}/**/*.ts', 'docs/*.md'], { exclude: ['test/recipes/**'] }).filter(
    (file) => isNamed(file, files) && !longer.some((name) => isNamed(file, name)),
  );
  const isOwn = (file: string) => file.startsWith(`src/${files}/`) || own.includes(file);
  const isImport = new RegExp(` from '[^']*/${files}/[^']+'`);
  const users = globSync(CODE, { exclude: ['src/app.module.ts'] }).filter(
    (file) => !isOwn(file) && isImport.test(readFileSync(file, 'utf8')),
  );
  if (users.length > 0)
    throw new InputError(`"${files}" cannot be removed: it is used by ${users.join(', ')}`);

  const module = describe(files);
  const hasGuide = existsSync(`docs/${files}.md`);
  const subscribers = matchesIn(`src/${files}/*.ts`, /@OnDurableEvent\(\{[^}]*\bname: '([^']+)'/g);
  dropTables(files);
  for (const file of [...own, `src/${files}`]) remove(file);
  const mention = mentionOf(module);
  // The packages of test/extra are not installed: nothing tells whether it still works.
  const changed = globSync(TEXTS, { exclude: [...EXCLUDED, 'test/extra/*'] }).filter((file) => {
    const text = readFileSync(file, 'utf8');
    const rest = hasGuide ? withoutWords(text, module) : text;
    const isRemoved = (path: string) => isOwn(join(file, '..', path).replace(/\.js$/, '.ts'));
    const changedText = /\.[jt]s$/.test(file) ? withoutModule(rest, mention, isRemoved) : rest;
    if (changedText !== text) write(file, changedText, 'changed');
    return changedText !== text;
  });
  execFileSync('npx', ['prettier', '--write', '--log-level', 'warn', ...changed]);
  renewContracts();
  const left = hasGuide ? new RegExp(String.raw`${mention.source}|\b(${files}|${module.Files})\b`) : mention;
  console.log(nextSteps([...linesWith(left), ...(await inDatabase(module.resources, subscribers))]));
}

const describe = (files: string): Module => ({
  files,
  Files: pascal(files),
  types: globSync(`src/${files}/*.entity.ts`).map((file) => pascal(basename(file, '.entity.ts'))),
  resources: matchesIn(`src/${files}/*.events.ts`, /resource: '([^']+)'/g),
});

const matchesIn = (files: string, pattern: RegExp): string[] =>
  globSync(files).flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, each]) => each!),
  );

/** The lines that still name the module, with their places. */
const linesWith = (mention: RegExp): string[] =>
  globSync([...TEXTS, 'examples/**/*.ts'], { exclude: [...EXCLUDED, '**/api.d.ts'] }).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line, n) => (mention.test(line) ? [`${file}:${n + 1} ${line.trim().slice(0, 100)}`] : [])),
  );

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
