import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { settingsOf } from '../src/platform/config/schema.js';
import { variablesOf } from '../src/platform/config/settings.js';
import { SOCIAL_SETTINGS } from '../src/platform/config/social.js';

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
});

/** Each recipe in the guide is a whole file that begins with its path. */
describe('docs/recipes.md', () => {
  const folder = 'test/recipes/guide';
  const shown = new Map(
    [...readFileSync('docs/recipes.md', 'utf8').matchAll(/^```ts\n\/\/ (\S+)\n(.*?)^```$/gms)].map(
      ([, path, code]) => [join(folder, path!.replace(/^(src|test)\//, '')), code!] as const,
    ),
  );

  /** The code with the import paths of a project instead of those of this folder, without white space. */
  function comparable(file: string, code: string): string {
    const parent = dirname(file).slice(folder.length + 1);
    const up = '../'.repeat(file.split('/').length - 1);
    const ownPaths = file.endsWith('.e2e-spec.ts')
      ? code
          .replaceAll("'../../../src/", "'../src/")
          .replaceAll("'../../support/", "'./support/")
          .replaceAll(/'\.\/(?!support\/)/g, "'../src/")
      : code
          .replaceAll(`'${up}src/${parent}/`, "'./")
          .replaceAll(`'${up}src/`, `'${'../'.repeat(parent.split('/').length)}`);
    return ownPaths.replaceAll(/\s+/g, '').replaceAll(/,(?=[)}\]])/g, '');
  }

  it('shows every file that the tests run', () => {
    expect([...shown.keys()].toSorted()).toEqual(globSync(`${folder}/**/*.ts`).toSorted());
  });

  it.each([...shown])('shows %s unchanged', (file, code) => {
    expect(comparable(file, code)).toBe(comparable(file, readFileSync(file, 'utf8')));
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
