/** `npm run rename -- "Invoices API"`: changes the name of the service wherever it stands. `--help` explains it. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parseCommandLine, rejectUsage } from '../src/commands/support/command-line.ts';

const USAGE = `Usage: npm run rename -- "Invoices API"

Changes the name of the service in code, tests, documentation and deployment files: "Invoices API", and invoices-api
for packages, images, units and the namespace of Redis. It prints the files that it changes.
docs/your-own-service.md says what is left to do.`;

/** Generated, or of others. */
const EXCLUDED = [
  'node_modules/**',
  'dist/**',
  'data/**',
  '.git/**',
  'public/guides/**',
  '**/*.{png,ico,gz,woff2}',
];

const { positionals } = parseCommandLine(USAGE, { allowPositionals: true });
const [title = '', ...more] = positionals;
if (more.length > 0 || !/^[A-Z][A-Za-z0-9]*( [A-Za-z0-9]+)+$/.test(title) || title.length > 40)
  rejectUsage(
    `${title === '' ? '' : `"${title}" cannot be the name: it takes two or more words of letters and digits, and 40 characters at most\n\n`}${USAGE}`,
  );

/** A name in each form in which it stands: for people, for programs, for alerts, and in links to headings. */
const formsOf = (words: string): string[] => [
  words,
  words.toLowerCase().replaceAll(' ', '-'),
  words.toLowerCase().replaceAll(' ', '_'),
  words
    .split(' ')
    .map((word) => word[0]!.toUpperCase() + word.slice(1).toLowerCase())
    .join(''),
  words.toLowerCase().replaceAll(' ', ''),
];

const { title: former } = JSON.parse(readFileSync('package.json', 'utf8')) as { title: string };
if (former === title) rejectUsage(`The name is "${title}" already`);
const formerForms = formsOf(former);
const forms = formsOf(title);
const rename = (text: string): string =>
  formerForms.reduce((renamed, form, n) => renamed.replaceAll(form, forms[n]!), text);

const files = globSync('**', { exclude: EXCLUDED })
  .concat(globSync('.*/**', { exclude: EXCLUDED }), globSync('.*'))
  .filter((file) => statSync(file).isFile());
for (const file of new Set(files)) {
  const text = readFileSync(file, 'utf8');
  const renamed = rename(text);
  if (renamed !== text) {
    writeFileSync(file, renamed);
    console.log(`changed ${file}`);
  }
  const name = rename(basename(file));
  if (name !== basename(file)) {
    renameSync(file, join(dirname(file), name));
    console.log(`moved   ${file} to ${name}`);
  }
}
// Shorter or longer names break lines elsewhere.
execFileSync('npx', ['prettier', '--write', '--log-level', 'warn', '.'], { stdio: 'inherit' });
console.log(`
Next:
1. npm run build && npm test
2. docs/your-own-service.md, "A name of your own": what is left`);
