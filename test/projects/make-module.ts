/**
 * Creates modules, alone and nested, with and without an owner, in a copy of the project: they pass all checks and their tests, and are served.
 * Then it removes them, after which the project is as before, apart from migrations. Part of `npm run test:extra`, because it runs all checks again.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CopyOfProject } from '../support/copy-of-project.ts';
import { Service } from '../support/service.ts';

/** In two parts: the command that removes the module also removes lines that name its path. */
const LIST = ['/v1', 'blog-entries'].join('/');

/** There is a recipe named tasks, too, which extends others. */
const MODULES = ['blog-entries', 'tasks', 'comments', 'remarks', 'replies'];

/** All types, required and optional. */
const FIELDS = `
  title:text(200) note:text? rating:int position:int? price:number weight:number? status:enum(open,done) kind:enum(a,b_2)?
  due:date seen:date? done:boolean flag:boolean?`;
const CHECKS = ['format', 'lint', 'types', 'boundaries', 'dead-code', 'openapi'];

/** Files that list modules, or are generated from them. */
const LISTS = ['src/app.module.ts', 'schema.gql', 'public/openapi.json', 'examples/client/api.d.ts'];

/** A module of the template, if the service still has it. */
const PARENT = existsSync('src/posts') ? 'posts' : 'tasks';

const copy = CopyOfProject.untilExit();
const listsBefore = readLists();
const data = join(copy.folder, 'data');
await copy.script('make:module', 'blog-entries', FIELDS);
await copy.script('make:module', 'tasks', '--owner', 'account');
await copy.script('make:module', 'comments', 'text:text(10)?', '--parent', PARENT, '--owner', 'account');
await copy.script('make:module', 'remarks', 'status:enum(open,done)', 'due:date?', '--parent', PARENT);
await copy.script(
  'make:module',
  'replies',
  '--parent',
  'blog-entries',
  '--owner',
  'account',
  '--on-delete',
  'restrict',
);
await copy.check(CHECKS, 'with the modules');

const output = await copy.test('test/database', 'reference', 'graphql.e2e', 'audit-routes', ...MODULES);
for (const name of MODULES) {
  if (!output.includes(`test/${name}.e2e-spec.ts`)) throw new Error(`The tests of ${name} did not run`);
}
await copy.testRecipes('recipes/guide/roles');
console.log('Their tests pass');

const service = await Service.start({ DATA_DIR: data }, join(copy.folder, 'dist/main.js'));
const list = await (await service.fetch(LIST)).text();
await service.end('SIGKILL');
if (!list.startsWith('{"data":[],')) throw new Error(`The list of a new module was ${list}`);
console.log('They are served');

const { code, output: rejection } = await copy.run('npm', 'run', 'remove', '--', 'blog-entries');
if (code === 0 || !rejection.includes('it is used by\nsrc/replies/'))
  throw new Error(`The parent of a module was removed: ${rejection}`);
for (const name of MODULES.toReversed()) await copy.script('remove', name);
if (readLists() !== listsBefore) throw new Error('The removed modules are still listed');
await copy.check(CHECKS, 'without them');
await copy.test('test/database', 'migration-rules');
const migrated = await Service.start({ DATA_DIR: data }, join(copy.folder, 'dist/main.js'));
const { status } = await migrated.fetch(LIST);
await migrated.end('SIGKILL');
if (status !== 404) throw new Error(`The list of a removed module was ${status}`);
console.log('They are removed, with their tables');

function readLists(): string {
  return LISTS.map((file) => readFileSync(join(copy.folder, file), 'utf8')).join('\n');
}
