/**
 * `npm run test:near`: runs the tests that are nearest to the files that differ from the last commit, on one database, and
 * stops at the first failure: those that notice the faults of test/faults.json in a source, then those that reach it, as
 * `npm run test:mutants -- --record` has recorded; without the record, those with its name.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { parseCommandLine, parseNumber, rejectUsage } from '../src/commands/support/command-line.ts';
import { readFaults } from './mutants/faults.ts';
import { isNamedAfter, type Reach, readReached, testsOf } from './mutants/reached.ts';
import { STORES } from './support/stores.ts';

/** How long a test file takes of which nothing is recorded, in seconds. */
const USUAL = 2;

const { values, positionals } = parseCommandLine(
  `Usage: npm run test:near [-- files of src or test] [--seconds 8]

  Without files, those that differ from the last commit. The tests run on SQLite, and stop at the first failure.

  --seconds  how long the chosen tests may take, by what npm run test:mutants -- --record has recorded (default: 8)`,
  { allowPositionals: true, options: { seconds: { type: 'string', default: '8' } } },
);
const seconds = parseNumber('--seconds', values.seconds, 1);
const missing = positionals.filter((file) => !existsSync(file));
if (missing.length > 0) rejectUsage(`There is no ${missing.join(', ')}`);
const changed = positionals.length > 0 ? positionals : changedFiles();

const isTest = (file: string) => /\.(e2e-)?spec\.ts$/.test(file);
const own = changed.filter(isTest);
const sources = changed.filter((file) => /^src\/.*\.ts$/.test(file) && !isTest(file));
const chosen = new Set(own);
const reached = readReached();
if (sources.length > 0 && !reached)
  console.log('The names of the tests decide; npm run test:mutants -- --record records what they reach');
const spec = (source: string) => source.replace(/\.ts$/, '.spec.ts');
for (const source of sources) if (existsSync(spec(source))) chosen.add(spec(source));
let left = seconds;
// In turn, so that each source has a part of the time.
const candidates = sources.map((source) => [...testsFor(source)]);
while (left > 0 && candidates.some((all) => all.length > 0)) {
  for (const all of candidates) {
    const next = all.shift();
    if (!next || chosen.has(next.file) || next.seconds > Math.max(left, USUAL)) continue;
    chosen.add(next.file);
    left -= next.seconds;
  }
}
const helpers = changed.filter((file) => file.startsWith('test/support/'));
if (helpers.length > 0)
  console.log('What a helper of the tests reaches is not known: run npm run test:watch, too');
if (chosen.size === 0) {
  console.log('No test is near to what has changed');
  process.exit(0);
}
const jest = ['node_modules/jest/bin/jest.js', '--bail', '--runInBand', '--runTestsByPath', ...chosen];
if (STORES.includes('SQLite')) jest.push('--testNamePattern', '^(?!.*PostgreSQL)');
const isAlone = STORES.includes('SQLite') && ![...chosen].some(needsMore);
const env = { ...process.env, ...(isAlone && { TEST_WITHOUT: 'build,PostgreSQL' }) };
const { status } = spawnSync(process.execPath, jest, { stdio: 'inherit', env });
process.exit(status ?? 1);

/** Whether tests need the build, for processes or pages, or PostgreSQL whatever their database is. */
function needsMore(test: string): boolean {
  const text = readFileSync(test, 'utf8');
  const startsProcesses =
    /support\/(service|command|copy-of-project|print-schema|kill-at-commit|redis|pgbouncer)/;
  return startsProcesses.test(text) || /'PostgreSQL'|dist\/|public\/|guides/.test(text);
}

/** Files that differ from the last commit, also new ones. */
function changedFiles(): string[] {
  const lines = (...parameters: string[]) =>
    execFileSync('git', parameters, { encoding: 'utf8' }).split('\n').filter(Boolean);
  const all = [
    ...lines('diff', '--name-only', '--diff-filter=d', 'HEAD'),
    ...lines('ls-files', '--others', '--exclude-standard'),
  ];
  return all.filter((file) => existsSync(file));
}

function testsFor(source: string): readonly Reach[] {
  const text = readFileSync(source, 'utf8');
  const noticing = readFaults().filter((fault) => text.includes(fault.text));
  const files = new Set(noticing.map(({ noticedBy = '' }) => noticedBy));
  // Not those of the system tests.
  const first = [...files].filter((file) => /\.(e2e-)?spec\.ts$/.test(file)).map(reachOf);
  return [...first, ...testsReaching(source)];
}

function reachOf(file: string): Reach {
  return reached?.find((each) => each.file === file) ?? { file, seconds: USUAL, sources: [] };
}

function testsReaching(source: string): readonly Reach[] {
  const known = reached && testsOf(source, reached).filter(({ file }) => existsSync(file));
  if (known && known.length > 0) {
    // What is named after it comes first: it is most about it.
    const isNamed = ({ file }: Reach) => isNamedAfter(file, source);
    return [...known.filter(isNamed), ...known.filter((each) => !isNamed(each))];
  }
  return globSync('{src,test}/**/*.{spec,e2e-spec}.ts', {
    exclude: ['test/{extra,recipes,system,mutants}/**'],
  })
    .filter((file) => isNamedAfter(file, source))
    .map(reachOf);
}
