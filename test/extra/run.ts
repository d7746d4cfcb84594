/**
 * `npm run test:extra`: what takes long, and fails only after changes of some files. It tries the service with clients and
 * tools of others, which have packages and a lock file of their own, so that `npm ci` does not install them for
 * everybody; traces it; runs the examples of others' documentation, and the recipes; does in copies of the project what a
 * team does; and runs all tests through PgBouncer.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseCommandLine, rejectUsage } from '../../src/commands/support/command-line.ts';
import { chromiumPath } from '../support/browser.ts';

interface Row {
  readonly name: string;
  /** What it depends on; without them, it runs only when nobody asks for what has changed. */
  readonly files?: readonly string[];
  readonly usesBrowser?: boolean;
  /** The parameters of each command. */
  readonly commands: readonly (readonly [command: string, ...parameters: string[]])[];
}

const node = process.execPath;
/** What a project of a team builds on. */
const BASE = [
  'package.json',
  'src/platform/{http,graphql,database}/**/*.ts',
  'src/accounts/**/*.ts',
  'tools/**/*.ts',
];
const PROJECTS = readdirSync('test/projects').map((file) => basename(file, '.ts'));

const ROWS: readonly Row[] = [
  {
    name: 'clients',
    usesBrowser: true,
    files: [
      'package.json',
      'schema.gql',
      'public/openapi.json',
      'src/events/*stream*.ts',
      'test/extra/*.{json,ts}',
    ],
    commands: [
      ['npm', 'ci', '--prefix', 'test/extra', '--no-audit', '--no-fund'],
      [node, 'node_modules/typescript-7/bin/tsc', '--noEmit', '-p', 'test/extra/tsconfig.json'],
      [node, 'node_modules/jest/bin/jest.js', '--config', 'test/extra/jest.config.ts'],
    ],
  },
  {
    name: 'tracing',
    files: [
      'package.json',
      'docs/operations.md',
      'deploy/tracing/*.{env,json,mjs}',
      'test/extra/tracing/*.{mjs,ts}',
    ],
    commands: [
      ['npm', 'ci', '--ignore-scripts', '--prefix', 'deploy/tracing', '--no-audit', '--no-fund'],
      [node, 'node_modules/jest/bin/jest.js', '--config', 'test/extra/tracing/jest.config.ts'],
    ],
  },
  {
    name: 'documentation',
    files: [...BASE, 'test/recipes/**/*.ts'],
    commands: [[node, 'node_modules/jest/bin/jest.js', '--config', 'test/recipes/jest.config.ts']],
  },
  ...PROJECTS.map((name): Row => {
    const test = `test/projects/${name}.ts`;
    const files = [...BASE, test, ...(name === 'recipes' ? ['docs/recipes.md', 'test/recipes/**/*.ts'] : [])];
    return { name, files, commands: [[node, '--no-warnings', test]] };
  }),
  {
    // It takes as long as `npm test`. `npm run test:system` runs the most important tests through the pooler.
    name: 'pooler',
    commands: [[node, '--no-warnings', 'test/system/pooler.ts', '--all']],
  },
];

/** The fingerprint of the files of each row when it passed for the last time. It is committed with a change of them. */
const PASSED = 'test/extra/passed.sha256';

const names = ROWS.map(({ name }) => name);
const { values } = parseCommandLine(
  `Usage: npm run test:extra [-- --if-changed --only NAMES]

  --if-changed  only what depends on files that have changed since it passed
  --only        only these, separated by commas: ${names.join(', ')}`,
  { options: { 'if-changed': { type: 'boolean', default: false }, only: { type: 'string' } } },
);
const only = values.only?.split(',') ?? names;
if (!only.every((name) => names.includes(name))) rejectUsage(`Available: ${names.join(', ')}`);

for (const { name, files, usesBrowser, commands } of ROWS.filter((row) => only.includes(row.name))) {
  const fingerprint = files && fingerprintOf(files);
  if (values['if-changed'] && (fingerprint === undefined || readPassed().get(name) === fingerprint)) {
    console.log(
      `test:extra does not run ${name}${fingerprint === undefined ? '' : ': it passed with the same files'}.`,
    );
    continue;
  }
  const env = { ...process.env, ...(usesBrowser && chromiumPath !== undefined && { TEST_BROWSER: 'on' }) };
  for (const [command, ...parameters] of commands) run(command, parameters, env);
  if (fingerprint === undefined) continue;
  const passed = [...readPassed().set(name, fingerprint)];
  writeFileSync(PASSED, passed.map(([each, hash]) => `${hash}  ${each}\n`).join(''));
}

function run(command: string, parameters: readonly string[], env: NodeJS.ProcessEnv): void {
  const { status } = spawnSync(command, parameters, { env, stdio: 'inherit' });
  if (status !== 0) process.exit(1);
}

function readPassed(): Map<string, string> {
  const lines = readFileSync(PASSED, 'utf8').trim().split('\n');
  return new Map(
    lines.map((line) => {
      const [hash = '', name = ''] = line.split('  ');
      return [name, hash];
    }),
  );
}

/** Without the specs beside the sources, which change nothing of what the rows try. */
function fingerprintOf(files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of globSync([...files], { exclude: ['**/*.spec.ts'] }).toSorted())
    hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}
