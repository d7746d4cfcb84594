import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { settingsOf } from '../src/platform/config/schema.js';
import { variablesOf } from '../src/platform/config/settings.js';
import { SOCIAL_SETTINGS } from '../src/platform/config/social.js';

const run = promisify(execFile);

const files = globSync('**/*.md', { exclude: ['**/node_modules/**', 'data/**'] });

/** The anchors that GitHub derives from the headings. */
const anchorsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

describe.each(files)('%s', (file) => {
  it('has no broken links', () => {
    const broken = [...readFileSync(file, 'utf8').matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, link]) => link!)
      .filter((link) => !/^[a-z]+:/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#');
        const target = path === '' ? file : join(dirname(file), path);
        return !existsSync(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
      });

    expect(broken).toEqual([]);
  });

  it('names no file that does not exist', () => {
    const named = [...readFileSync(file, 'utf8').matchAll(/`((?:\w[\w.-]*\/){2,}[\w.-]+\.\w+)`/g)].map(
      ([, path]) => path!,
    );
    // The folder of a module that a guide makes, or that was removed, does not exist.
    const missing = named.filter((path) => existsSync(dirname(path)) && !existsSync(path));

    expect(missing).toEqual([]);
  });
});

/** The parts of a file that a guide shows, with `…` between them. */
describe('docs/recipes.md', () => {
  const page = readFileSync('docs/recipes.md', 'utf8');
  const shown = [...page.matchAll(/^```ts\n\/\/ (test\/recipes\/guide\/\S+)\n(.*?)^```$/gms)].map(
    ([, path, code]) => [path!, code!] as const,
  );
  const withoutSpace = (code: string) => code.replaceAll(/\s+/g, '').replaceAll(/,(?=[)}\]…]|$)/g, '');

  it.each(shown)('shows lines of %s unchanged', (path, code) => {
    const file = withoutSpace(readFileSync(path, 'utf8'));
    const parts = withoutSpace(code).split('…');

    expect(parts.filter((part) => !file.includes(part))).toEqual([]);
  });

  it('names every recipe of the command, which has all files of the guide', async () => {
    const { stdout } = await run(process.execPath, ['--no-warnings', 'tools/recipe.ts', '--help']);
    const names = [...stdout.matchAll(/^  ([a-z0-9-]+)  /gm)].map(([, name]) => name!);
    const folders = globSync('test/recipes/guide/*/').map((path) => basename(path));

    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !page.includes(`npm run recipe -- ${name}`))).toEqual([]);
    expect(folders.filter((name) => !['commands', 'platform', ...names].includes(name))).toEqual([]);
  });
});

describe('docs/recipes.md, of renaming a column', () => {
  const test = readFileSync('test/recipes/rename-column.e2e-spec.ts', 'utf8').replaceAll(/^export /gm, '');
  const steps = [
    ...readFileSync('docs/recipes.md', 'utf8').matchAll(
      /^```ts\n\/\/ (?:release|later)[^\n]*\n(.*?)^```$/gms,
    ),
  ].map(([, code]) => code!.replaceAll(/^export |^import .*\n+/gm, ''));

  it('shows the code that the test runs', () => {
    expect(steps).toHaveLength(2);
    expect(steps.filter((code) => !test.includes(code))).toEqual([]);
  });
});

describe('docs/configuration.md', () => {
  const text = readFileSync('docs/configuration.md', 'utf8');
  const settings = variablesOf({ ...settingsOf(true), ...SOCIAL_SETTINGS });

  it('describes every setting', () => {
    expect(settings.length).toBeGreaterThan(40);
    expect(settings.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('docs/extending.md', () => {
  it('lists the steps of the request pipeline in their order', () => {
    const guide = readFileSync('docs/extending.md', 'utf8').split('## The request pipeline')[1]!;
    const listed = [...guide.matchAll(/^\| `(\w+)` +\|/gm)].map(([, step]) => step);
    const pipeline = readFileSync('src/pipeline.ts', 'utf8');

    const registered = [...pipeline.matchAll(/fastify\.register\((\w+)/g)].map(([, step]) => step);
    expect(registered.length).toBeGreaterThan(10);
    expect(listed).toEqual(registered);
  });
});
