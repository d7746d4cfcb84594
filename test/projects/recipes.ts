/**
 * Adds every recipe to a copy of the project by its command, as docs/recipes.md says, next to made modules: all checks pass,
 * and so do the tests of the recipes, without Redis, too, and the platform's tests of what recipes have an effect on,
 * without a change to a file of either. Then it makes the files of the image as the Dockerfile does, starts the service from
 * them, and runs the command of a recipe meanwhile.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CopyOfProject } from '../support/copy-of-project.ts';
import { Service } from '../support/service.ts';

const CHECKS = ['lint', 'types', 'boundaries', 'dead-code', 'openapi'];

/** Of the platform, where recipes and modules of a team have made tests red, or could: they touch what these test. */
const OF_THE_PLATFORM = [
  'audit-routes',
  'bodies',
  'graphql-http',
  'health',
  'hostile-requests',
  'http',
  'inputs',
  'make-module',
  'playground',
  'rate-limit',
  'reference',
  'security-log',
].map((name) => `test/${name}`);

const recipes = globSync('test/recipes/guide/*/*.module.ts').map((file) => basename(dirname(file)));
const taken = [...new Set(recipes), 'invoices', 'comments'].filter((name) => existsSync(`src/${name}`));
if (taken.length > 0) {
  console.log(`SKIPPED: all recipes, because the service has modules with their names: ${taken.join(', ')}`);
  process.exit(0);
}

const JSON_TYPE = { 'content-type': 'application/json' };

const copy = CopyOfProject.untilExit();
const data = join(copy.folder, 'data');
const image = join(copy.folder, 'image');
const help = await copy.script('recipe', '--help');
const names = [...help.matchAll(/^  ([a-z0-9-]+)  /gm)].map(([, name]) => name!);
await copy.script('recipe', ...names);
console.log(`${names.join(', ')} are added`);
await copy.script('make:module', 'invoices', 'text:text rating:int? status:enum(open,done)');
if (existsSync('src/posts'))
  await copy.script('make:module', 'comments', '--parent', 'posts', '--owner', 'account');
await copy.script('format');
await copy.script('contracts');
await copy.check(CHECKS, 'with the recipes');

const tests = [...names, 'invoices', 'comments'].flatMap((name) => [`test/${name}.e2e-spec`, `src/${name}/`]);
await copy.test(...tests, 'test/fill-command', ...OF_THE_PLATFORM);
await copy.testRecipes('recipes/application', 'recipes/graphql/federation');
// Those of the modules that are registered do not run a second time.
await copy.testRecipes('recipes/guide', '--passWithNoTests');
await copy.test('test/database', '-t', 'schema that the entities describe');
console.log('Their tests pass');

makeImage();
const service = await Service.start({ DATA_DIR: data }, join(image, 'dist/main.js'));
const task = JSON.stringify({ title: 'A title', status: 'open', priority: 1 });
const { status } = await service.fetch('/v1/tasks', { method: 'POST', body: task, headers: JSON_TYPE });
const statistics = await (await service.fetch('/v1/statistics/accounts')).text();
const filled = execFileSync(process.execPath, ['dist/commands/fill.js'], {
  cwd: image,
  env: { ...process.env, DATA_DIR: data },
  encoding: 'utf8',
});
await service.end('SIGKILL');
if (status !== 201 || statistics !== '{"accounts":0}' || !filled.startsWith('Filled in '))
  throw new Error(`The image responds with ${status}, ${statistics}, ${filled}`);
console.log('They are served from the files of the image, next to the command');

function inCopy(path: string): string {
  return join(copy.folder, path);
}

/** The steps of the Dockerfile after the build. Hard links take no time, and pruning leaves the originals alone. */
function makeImage(): void {
  mkdirSync(image);
  const modules = join(image, 'node_modules');
  try {
    execFileSync('cp', ['-Rl', resolve('node_modules'), modules], { stdio: 'ignore' });
  } catch {
    // The temporary folder is on another file system.
    rmSync(modules, { recursive: true, force: true });
    execFileSync('cp', ['-R', resolve('node_modules'), modules]);
  }
  for (const name of ['package.json', 'package-lock.json', '.npmrc', 'dist', 'public'])
    cpSync(inCopy(name), join(image, name), { recursive: true });
  const prune = ['prune', '--omit=dev', '--omit=optional', '--no-audit', '--no-fund', '--offline'];
  execFileSync('npm', prune, { cwd: image, stdio: 'ignore' });
}
