import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ANY_DATABASE } from '../../../test/support/stores.js';
import { loadConfig } from './load-config.js';
import { loadStoreConfig } from './store.js';

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'config-'));
  const DATA_DIR = join(folder, 'data');
  afterAll(() => rmSync(folder, { recursive: true }));

  const keep = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  };

  it.each(['', '\n', '\r\n'])('are read without a trailing %j', (end) => {
    const file = keep('secret', `${'s'.repeat(32)}${end}`);
    const config = loadConfig({
      ...ANY_DATABASE,
      DATA_DIR,
      JWT_SECRET_FILE: file,
      JWT_SECRET_PREVIOUS_FILE: file,
    });

    expect(config.jwtSecret).toBe('s'.repeat(32));
    expect(config.jwtSecretPrevious).toBe('s'.repeat(32));
  });

  it('are read without a byte order mark', () => {
    const file = keep('marked', `\uFEFF${'s'.repeat(32)}\n`);
    expect(loadConfig({ ...ANY_DATABASE, DATA_DIR, JWT_SECRET_FILE: file }).jwtSecret).toBe('s'.repeat(32));
  });

  it('may hold a database URL with a password, for commands too', () => {
    const url = 'postgres://user:pass@db.example:5432/posts';
    const environment = { DATA_DIR, DATABASE_URL_FILE: keep('url', url) };

    expect(loadConfig(environment).store).toMatchObject({ kind: 'postgres', url });
    expect(loadStoreConfig(environment).store).toMatchObject({ kind: 'postgres', url });
  });

  it.each([
    [
      'a file together with the setting itself',
      { JWT_SECRET: 's'.repeat(32), JWT_SECRET_FILE: 'x' },
      'together with JWT_SECRET',
    ],
    ['an empty file', { JWT_SECRET_FILE: keep('empty', '\n') }, 'must not be empty'],
    ['a file with a short key', { JWT_SECRET_FILE: keep('short', 'hunter2') }, 'JWT_SECRET must be at least'],
    ['a missing file', { SMTP_URL_FILE: '/nowhere' }, 'SMTP_URL_FILE must be a file that can be read'],
    ['a folder', { DATABASE_URL_FILE: folder }, 'DATABASE_URL_FILE must be a file that can be read'],
  ])('stop the start for %s', (_, settings, sentence) => {
    const start = () => loadConfig({ DATA_DIR, ...settings });

    expect(start).toThrow(sentence);
    expect(start).not.toThrow(/hunter/);
  });
});
