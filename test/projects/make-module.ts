/**
 * Creates modules, alone and nested, with and without an owner, in a copy of the project: they pass all checks and their tests, and are served.
 * Then it removes them, after which the project is as before, apart from migrations. Part of `npm run test:extra`, because it runs all checks again.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
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

const copy = new CopyOfProject();
const listsBefore = readLists();
const data = mkdtempSync(join(tmpdir(), 'posts-api-data-'));
try {
  await make('blog-entries', FIELDS);
  await make('tasks', '--owner', 'account');
  await make('comments', 'text:text(10)?', '--parent', PARENT, '--owner', 'account');
  await make('remarks', 'status:enum(open,done)', 'due:date?', '--parent', PARENT);
  await make('replies', '--parent', 'blog-entries', '--owner', 'account', '--on-delete', 'restrict');
  await check('with the modules');

  const tests = [
    'test/database',
    'reference',
    'graphql.e2e',
    'audit-routes',
    'recipes/guide/roles',
    ...MODULES,
  ];
  const output = await copy.mustRun(process.execPath, 'node_modules/jest/bin/jest.js', ...tests);
  for (const name of MODULES) {
    if (!output.includes(`test/${name}.e2e-spec.ts`)) throw new Error(`The tests of ${name} did not run`);
  }
  console.log('Their tests pass');

  const service = await Service.start({ DATA_DIR: data }, join(copy.folder, 'dist/main.js'));
  const list = await (await service.fetch(LIST)).text();
  await service.end('SIGKILL');
  if (!list.startsWith('{"data":[],')) throw new Error(`The list of a new module was ${list}`);
  console.log('They are served');

  const { code, output: rejection } = await copy.run('npm', 'run', 'remove', '--', 'blog-entries');
  if (code === 0 || !rejection.includes('it is used by\nsrc/replies/'))
    throw new Error(`The parent of a module was removed: ${rejection}`);
  for (const name of MODULES.toReversed()) await copy.mustRun('npm', 'run', '--silent', 'remove', '--', name);
  if (readLists() !== listsBefore) throw new Error('The removed modules are still listed');
  await check('without them');
  await copy.mustRun(process.execPath, 'node_modules/jest/bin/jest.js', 'test/database', 'migration-rules');
  const migrated = await Service.start({ DATA_DIR: data }, join(copy.folder, 'dist/main.js'));
  const { status } = await migrated.fetch(LIST);
  await migrated.end('SIGKILL');
  if (status !== 404) throw new Error(`The list of a removed module was ${status}`);
  console.log('They are removed, with their tables');
} catch (error) {
  console.log((error as Error).message);
  process.exitCode = 1;
} finally {
  copy.remove();
  rmSync(data, { recursive: true });
}

async function check(when: string): Promise<void> {
  for (const name of CHECKS) {
    await copy.mustRun('npm', 'run', '--silent', `check:${name}`);
    console.log(`check:${name} passes ${when}`);
  }
}

function readLists(): string {
  return LISTS.map((file) => readFileSync(join(copy.folder, file), 'utf8')).join('\n');
}

function make(...parameters: string[]): Promise<string> {
  return copy.mustRun('npm', 'run', '--silent', 'make:module', '--', ...parameters);
}
