/** `npm run recipe -- tasks`: adds a recipe of docs/recipes.md to the service. `--help` lists them. */
import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { parseCommandLine, rejectUsage } from '../src/commands/support/command-line.ts';
import { edit, register, renewContracts, write } from './make-module/files.ts';
import { InputError } from './make-module/input-error.ts';

const FOLDER = 'test/recipes/guide';
const MIGRATIONS = 'platform/database/migrations';

interface Recipe {
  readonly about: string;
  /** Patterns of its files, below the folder of the recipes. */
  readonly files: readonly string[];
  /** The recipe that it extends. */
  readonly needs?: string;
  readonly packages?: readonly string[];
  readonly scripts?: Readonly<Record<string, string>>;
  /** What it changes in other files. */
  readonly edits?: Readonly<Record<string, (text: string) => string>>;
}

const own = (name: string): string[] => [`${name}/*.ts`, `${name}.{e2e-spec,audit}.ts`];

const RECIPES: Readonly<Record<string, Recipe>> = {
  tasks: {
    about: 'a list with filters and an order, and a field that null clears',
    files: ['tasks/{task,tasks}.*.ts', `${MIGRATIONS}/*-tasks.ts`, 'tasks.e2e-spec.ts'],
  },
  'tasks-v2': {
    about: 'version 2 of a resource',
    files: ['tasks/{task,tasks}-v2.*.ts', 'tasks-v2.e2e-spec.ts'],
    needs: 'tasks',
  },
  fill: {
    about: 'a command that fills a column of a large table',
    files: [
      ...own('fill'),
      'fill-command.e2e-spec.ts',
      'commands/fill.ts',
      `${MIGRATIONS}/*-task-urgency.ts`,
    ],
    needs: 'tasks',
    scripts: { fill: 'exec node dist/commands/fill.js' },
    edits: {
      'src/tasks/task.entity.ts': (text) =>
        text.replace(
          /\}\n$/,
          `\n  @IntegerColumn('urgency', { nullable: true })\n  urgency!: number | null;\n}\n`,
        ),
    },
  },
  roles: { about: 'roles of your own', files: [...own('roles'), `${MIGRATIONS}/*-account-roles.ts`] },
  cleanup: { about: 'a scheduled job', files: own('cleanup'), packages: ['@nestjs/schedule'] },
  statistics: {
    about: 'a cached handler, and a rate limit on one route',
    files: own('statistics'),
    packages: ['@nestjs/cache-manager', 'cache-manager', '@nestjs/throttler'],
  },
  mailing: { about: 'a queue in Redis', files: own('mailing'), packages: ['bullmq'] },
  prices: { about: 'a client of another service, with a health check', files: own('prices') },
  diagnostics: {
    about: 'health checks with details, by Terminus',
    files: own('diagnostics'),
    packages: ['@nestjs/terminus'],
  },
  files: { about: 'uploads and downloads', files: own('files'), packages: ['@fastify/multipart'] },
  subscriptions: {
    about: 'GraphQL subscriptions over WebSocket',
    files: ['platform/graphql/subscriptions.options.ts', 'subscriptions.e2e-spec.ts'],
    packages: ['graphql-subscriptions', 'graphql-ws'],
    edits: {
      'src/platform/graphql/graphql.module.ts': (text) =>
        text
          .replace(
            /^import \{ GraphqlOptions .*$/m,
            `import { SubscriptionsOptions } from './subscriptions.options.js';`,
          )
          .replace('useClass: GraphqlOptions', 'useClass: SubscriptionsOptions'),
    },
  },
};

const USAGE = `Usage: npm run recipe -- <name>…

Adds recipes of docs/recipes.md: their files in src/ and test/, their modules and packages, and what they change in
the contracts.
${Object.entries(RECIPES)
  .map(([name, { about }]) => `  ${name.padEnd(15)}${about}`)
  .join('\n')}`;

const { positionals: names } = parseCommandLine(USAGE, { allowPositionals: true });
if (names.length === 0 || !names.every((name) => Object.hasOwn(RECIPES, name))) rejectUsage(USAGE);
const chosen = names.map((name) => ({ name, ...RECIPES[name]! }));
for (const { name, needs, files } of chosen) {
  if (needs !== undefined && !names.includes(needs) && !existsSync(`src/${needs}`))
    rejectUsage(`"${name}" extends another recipe: add ${needs}, too`);
  const taken = filesOf(files).map(targetOf).find(existsSync);
  if (taken !== undefined) rejectUsage(`"${name}" cannot be added: there is ${taken} already`);
}

const sources = chosen.flatMap(({ files }) => filesOf(files));
for (const source of sources) write(targetOf(source), adapted(source));
for (const source of sources.filter((file) => file.endsWith('.module.ts'))) {
  const [, type] = /export class (\w+)Module\b/.exec(readFileSync(source, 'utf8'))!;
  register(basename(dirname(source)), type!, basename(source, '.module.ts'));
}
for (const { edits = {} } of chosen) for (const [file, change] of Object.entries(edits)) edit(file, change);
const packages = chosen.flatMap((recipe) => recipe.packages ?? []);
const scripts = Object.assign({}, ...chosen.map((recipe) => recipe.scripts)) as Record<string, string>;
if (packages.length + Object.keys(scripts).length > 0) edit('package.json', withPackages);
// They are installed already, for the tests of the recipes.
if (packages.length > 0)
  execFileSync('npm', ['install', '--package-lock-only', '--offline', '--no-audit', '--no-fund', '--silent']);
execFileSync('npx', ['prettier', '--write', '--log-level', 'warn', 'src', 'test', 'package.json']);
try {
  renewContracts();
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  rejectUsage(error.message);
}
const tests = sources.filter((file) => file.endsWith('spec.ts')).map((file) => basename(file));
console.log(`\nNext:
1. npm test -- ${tests.join(' ')}
2. Make it yours: nothing else depends on these files`);

function filesOf(patterns: readonly string[]): string[] {
  return globSync(patterns.map((pattern) => join(FOLDER, pattern))).toSorted();
}

/** Where a file belongs in the service. */
function targetOf(source: string): string {
  const path = relative(FOLDER, source);
  return /\.(e2e-spec|audit)\.ts$/.test(path) ? `test/${path}` : `src/${path}`;
}

/** The file with the paths of its imports as they are from its place in the service. */
function adapted(source: string): string {
  const place = dirname(targetOf(source));
  return readFileSync(source, 'utf8').replaceAll(
    /(?<=\bfrom '|\bimport\('|^import ')\.[^']+(?=')/gm,
    (path) => {
      const file = join(dirname(source), path);
      const target = file.startsWith(FOLDER) ? targetOf(file) : file;
      const inPlace = relative(place, target);
      return inPlace.startsWith('.') ? inPlace : `./${inPlace}`;
    },
  );
}

function withPackages(text: string): string {
  const manifest = JSON.parse(text);
  Object.assign(manifest.scripts, scripts);
  for (const each of packages) {
    manifest.dependencies[each] ??= manifest.devDependencies[each];
    delete manifest.devDependencies[each];
  }
  // In the order of npm, so that the change shows only what is new.
  manifest.dependencies = Object.fromEntries(
    Object.entries(manifest.dependencies).toSorted(([a], [b]) => a.localeCompare(b)),
  );
  return JSON.stringify(manifest, null, 2);
}
