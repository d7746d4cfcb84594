import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { checksumOf, checksumsOfSources } from './checksums.js';
import { migrations } from './index.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'migrations-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function checksum(files: Record<string, string>): Record<string, string> {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return checksumsOfSources(pathToFileURL(`${folder}/`));
}

it('ignores changes of comments and white space, and changes with the code', () => {
  const before = checksum({ '1-a.ts': 'run(`SELECT 1`)' });

  expect(checksum({ '1-a.ts': '/** Why. */\n// And how.\nrun(\n  `SELECT 1`\n)\n' })).toEqual(before);
  expect(checksum({ '1-a.ts': 'run(`SELECT 2`)' })).not.toEqual(before);
});

it('covers the database-specific files of a migration, and nothing else', () => {
  const before = checksum({ '1-a.ts': 'a', '1-a.sqlite.ts': 'b', '2-b.ts': 'c', 'index.ts': 'd' });

  const after = checksum({ '1-a.sqlite.ts': 'changed', 'index.ts': 'changed' });
  expect(Object.keys(before)).toEqual(['1', '2']);
  expect(after['1']).not.toBe(before['1']);
  expect(after['2']).toBe(before['2']);
});

it('exists for every migration', () => {
  for (const { name } of migrations) expect(checksumOf(name)).toMatch(/^[0-9a-f]{64}$/);
  expect(checksumOf('Unknown1')).toBeUndefined();
});
