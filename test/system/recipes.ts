/**
 * Puts every file of `docs/recipes.md` where the page says, in a copy of the project, and registers its modules: all
 * checks and the tests of the recipes pass. Then it makes the files of the image as the Dockerfile does, starts the
 * service from them, and runs the command of a recipe meanwhile.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { CopyOfProject } from '../support/copy-of-project.ts';
import { Service } from '../support/service.ts';

const CHECKS = ['lint', 'types', 'boundaries', 'dead-code', 'openapi'];

/** Needs Redis, which most tests do not have. */
const NOT_REGISTERED = 'MailingModule';

const JSON_TYPE = { 'content-type': 'application/json' };

const page = readFileSync('docs/recipes.md', 'utf8');
const files = [...page.matchAll(/^```ts\n\/\/ (\S+\/\S+\.ts)\n(.*?)^```$/gms)].map(
  ([, path, code]) => [path!, code!] as const,
);
const copy = new CopyOfProject();
const data = mkdtempSync(join(tmpdir(), 'posts-api-data-'));
const image = join(copy.folder, 'image');
try {
  for (const [path, code] of files) {
    mkdirSync(dirname(inCopy(path)), { recursive: true });
    writeFileSync(inCopy(path), code);
  }
  moveToDependencies(
    [...page.matchAll(/`npm install --save-prod ([^`]+)`/g)].flatMap(([, names]) => names!.split(' ')),
  );
  for (const [path, code] of files) {
    const [, name = ''] = /export class (\w+Module)\b/.exec(code) ?? [];
    if (path.endsWith('.module.ts') && name !== NOT_REGISTERED) register(path, name);
  }
  addWebSocketAdapter();
  addColumn();
  await run('npm', 'install', '--package-lock-only', '--offline', '--no-audit', '--no-fund');
  await run('npm', 'run', '--silent', 'format');
  await run('npm', 'run', '--silent', 'contracts');
  for (const check of CHECKS) {
    await run('npm', 'run', '--silent', `check:${check}`);
    console.log(`check:${check} passes with the recipes`);
  }

  const tests = files
    .map(([path]) => path)
    .filter((path) => path.endsWith('spec.ts') && !path.includes('mailing'));
  await test(...tests, 'test/reference');
  // Those of the modules that are registered do not run a second time.
  await test('test/recipes/guide', '--passWithNoTests');
  await test('test/database', '-t', 'schema that the entities describe');
  console.log('Their tests pass');

  makeImage();
  const service = await Service.start({ DATA_DIR: data }, join(image, 'dist/main.js'));
  const task = JSON.stringify({ title: 'A title', status: 'open', priority: 1 });
  const { status } = await service.fetch('/v1/tasks', { method: 'POST', body: task, headers: JSON_TYPE });
  const statistics = await (await service.fetch('/v1/statistics/posts')).text();
  const filled = execFileSync(process.execPath, ['dist/commands/fill.js'], {
    cwd: image,
    env: { ...process.env, DATA_DIR: data },
    encoding: 'utf8',
  });
  await service.end('SIGKILL');
  if (status !== 201 || statistics !== '{"posts":0}' || !filled.startsWith('Filled in '))
    throw new Error(`The image responds with ${status}, ${statistics}, ${filled}`);
  console.log('They are served from the files of the image, next to the command');

  register('src/mailing/mailing.module.ts', 'MailingModule');
  await run('npm', 'run', '--silent', 'format');
  await test('test/mailing');
  console.log('The test of the queue passes, unless it is skipped');
} catch (error) {
  console.log((error as Error).message);
  process.exitCode = 1;
} finally {
  copy.remove();
  rmSync(data, { recursive: true });
}

function inCopy(path: string): string {
  return join(copy.folder, path);
}

function edit(path: string, change: (text: string) => string): void {
  const text = readFileSync(inCopy(path), 'utf8');
  const changed = change(text);
  if (changed === text) throw new Error(`${path} does not look as the recipes expect`);
  writeFileSync(inCopy(path), changed);
}

function register(path: string, name: string): void {
  const specifier = path.replace(/^src\//, './').replace(/ts$/, 'js');
  edit('src/app.module.ts', (text) =>
    text
      .replace(/^import \{ AuditModule/m, `import { ${name} } from '${specifier}';\n$&`)
      .replace(/^ {4}AuthModule,$/m, `    ${name},\n$&`),
  );
}

/** As the recipe of a gateway says. */
function addWebSocketAdapter(): void {
  edit('src/app.ts', (text) =>
    text
      .replace(/^import type \{ NestFastify/m, `import { WsAdapter } from '@nestjs/platform-ws';\n$&`)
      .replace('    await registerPipeline(app);', '    app.useWebSocketAdapter(new WsAdapter(app));\n$&'),
  );
}

/** As the recipe of the command says. */
function addColumn(): void {
  edit('src/tasks/task.entity.ts', (text) =>
    text.replace(
      /\}\n$/,
      `\n  @IntegerColumn('urgency', { nullable: true })\n  urgency!: number | null;\n}\n`,
    ),
  );
}

/** What `npm install --save-prod` does, without the network; and the script of the command. */
function moveToDependencies(names: readonly string[]): void {
  edit('package.json', (text) => {
    const { scripts, dependencies, devDependencies, ...others } = JSON.parse(text);
    for (const name of names) {
      dependencies[name] = devDependencies[name];
      delete devDependencies[name];
    }
    scripts.fill = 'exec node dist/commands/fill.js';
    return `${JSON.stringify({ ...others, scripts, dependencies, devDependencies }, null, 2)}\n`;
  });
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

function test(...names: readonly string[]): Promise<string> {
  return run(process.execPath, 'node_modules/jest/bin/jest.js', ...names);
}

/** @throws Error with the output when the command fails */
async function run(command: string, ...parameters: string[]): Promise<string> {
  const { code, output } = await copy.run(command, ...parameters);
  if (code !== 0) throw new Error(`${command} ${parameters.join(' ')} failed:\n${output}`);
  return output;
}
