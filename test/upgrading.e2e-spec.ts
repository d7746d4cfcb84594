import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { MigrationInterface } from 'typeorm';
import { loadConfig } from '../src/platform/config/load-config.js';
import { migrate } from '../src/platform/database/migrate.js';
import { migrations } from '../src/platform/database/migrations/index.js';
import { createStore, STORES } from './support/stores.js';

const git = (folder: string, ...parameters: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Team', '-c', 'user.email=team@example.com', ...parameters], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();

/** The last version before the current commit. */
function lastTag(folder: string): string | undefined {
  const [tag] = git(folder, 'tag', '--merged', 'HEAD~1', '--sort=-creatordate').split('\n');
  return tag || undefined;
}

/** The last version; without tags, the commit with which the changelog begins. */
function findBase(): string | undefined {
  try {
    if (git('.', 'rev-parse', '--is-shallow-repository') === 'true') return undefined;
    const log = () => git('.', 'log', '--diff-filter=A', '--format=%H', '--', 'CHANGELOG.md');
    return lastTag('.') ?? log().split('\n').at(-1);
  } catch {
    return undefined;
  }
}

const base = findBase();

/** The migrations of a version that were changed or deleted since. */
const changedMigrations = (folder: string, version: string): string[] =>
  git(
    folder,
    'diff',
    '--no-renames',
    '--diff-filter=MD',
    '--name-only',
    version,
    'HEAD',
    '--',
    'src/platform/database/migrations',
  )
    .split('\n')
    .filter((file) => /\/\d+-[^/]+$/.test(file));

/** The files of a made-up extension. */
const OWN_FILES: Readonly<Record<string, string>> = {
  'src/gadgets/gadgets.module.ts': `import { Module } from '@nestjs/common';\n\n@Module({})\nexport class GadgetsModule {}\n`,
  'src/platform/database/migrations/1763700000500-gadgets.ts': 'export class Gadgets1763700000500 {}\n',
  'test/gadgets.e2e-spec.ts': `it.todo('has gadgets');\n`,
  'docs/gadgets.md': '# Gadgets\n',
};

/** Where it adds lines: the list of modules, and what the contracts of the extension contain. */
const ADDED_LINES: readonly (readonly [file: string, before: RegExp, line: string])[] = [
  [
    'src/app.module.ts',
    /^import \{ GraphqlModule/m,
    `import { GadgetsModule } from './gadgets/gadgets.module.js';\n`,
  ],
  ['src/app.module.ts', /^ {4}AuthModule,$/m, '    GadgetsModule,\n'],
  ['schema.gql', /^type Query \{$/m, 'type Gadget {\n  id: ID!\n}\n\n'],
  ['public/openapi.json', /^ {2}"components": \{$/m, '  "x-gadgets": true,\n'],
  ['examples/client/api.d.ts', /^export interface paths/m, 'export type Gadget = string;\n'],
];

(base === undefined ? describe.skip : describe)('an extension (skipped without the history of Git)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'posts-api-upgrade-'));
  beforeAll(() => {
    git('.', 'clone', '--quiet', '--no-checkout', '.', folder);
    git(folder, 'config', 'merge.regenerate.driver', 'true');
    // The base may be older than this file.
    mkdirSync(join(folder, '.git/info'), { recursive: true });
    writeFileSync(join(folder, '.git/info/attributes'), readFileSync(resolve('.gitattributes')));
    git(folder, 'checkout', '--quiet', '-b', 'extension', base!);
    for (const [file, text] of Object.entries(OWN_FILES)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    for (const [file, before, line] of ADDED_LINES) {
      const text = readFileSync(join(folder, file), 'utf8');
      const added = text.replace(before, (found) => line + found);
      if (added === text) throw new Error(`${file} has no place for a line of the extension`);
      writeFileSync(join(folder, file), added);
    }
    git(folder, 'add', '--all');
    git(folder, 'commit', '--quiet', '--message', 'Extend the service');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('takes the current version without a conflict outside of the list of modules', () => {
    const current = git('.', 'rev-parse', 'HEAD');
    try {
      git(folder, 'merge', '--quiet', '--no-edit', current);
    } catch {
      // The conflicts are compared below.
    }
    const conflicts = git(folder, 'diff', '--name-only', '--diff-filter=U').split('\n').filter(Boolean);
    const different = git(folder, 'diff', '--name-only', current).split('\n');

    expect(conflicts.filter((file) => file !== 'src/app.module.ts')).toEqual([]);
    // Everything else is that of upstream.
    const allowed = new Set([...Object.keys(OWN_FILES), ...ADDED_LINES.map(([file]) => file)]);
    expect(different.filter((file) => !allowed.has(file))).toEqual([]);
    expect(different).toEqual(expect.arrayContaining(Object.keys(OWN_FILES)));
  });
});

(base === undefined ? describe.skip : describe)('migrations (skipped without the history of Git)', () => {
  it('are those of the last version, which nobody has changed or deleted', () => {
    const version = lastTag('.');
    expect(version === undefined ? [] : changedMigrations('.', version)).toEqual([]);
  });

  it('are found when they were changed or deleted', () => {
    const folder = mkdtempSync(join(tmpdir(), 'posts-api-migrations-'));
    git('.', 'clone', '--quiet', '.', folder);
    git(folder, 'tag', 'v9.9.9');
    const at = (name: string) => `src/platform/database/migrations/${name}`;
    appendFileSync(join(folder, at('1795000000000-users.ts')), '// changed\n');
    rmSync(join(folder, at('1795000000005-mails.ts')));
    appendFileSync(join(folder, at('column-types.ts')), '// a type more\n');
    writeFileSync(join(folder, at('1799000000000-gadgets.ts')), '');
    git(folder, 'add', '--all');
    git(folder, 'commit', '--quiet', '--message', 'Change migrations');

    expect(lastTag(folder)).toBe('v9.9.9');
    const found = changedMigrations(folder, 'v9.9.9');
    rmSync(folder, { recursive: true });
    expect(found).toEqual([at('1795000000000-users.ts'), at('1795000000005-mails.ts')]);
  });
});

describe.each(STORES)('a migration of a later version on %s', (store) => {
  class Older1763700000001 implements MigrationInterface {
    async up(): Promise<void> {}
    async down(): Promise<void> {}
  }

  it('is run although newer ones of the extension have run', async () => {
    const { environment, ...testStore } = await createStore(store);
    migrations.splice(1, 0, Older1763700000001);
    const ran = await migrate(loadConfig(environment)).finally(() => migrations.splice(1, 1));
    await testStore.remove();

    expect(ran).toEqual(['Older1763700000001']);
  });
});
