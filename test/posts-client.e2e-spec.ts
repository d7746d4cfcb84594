import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { startApi } from './support/api.js';
import { freePort } from './support/free-port.js';
import { onEach } from './support/on-each.js';
import { ANY_STORE, STORES } from './support/stores.js';

const run = promisify(execFile);

describe('the typed client', () => {
  it.each(STORES)(
    'logs in, creates once, overwrites nothing, lists pages and refreshes, on %s',
    async (name) => {
      const api = await startApi(name);
      const { stdout } = await run(process.execPath, ['examples/client/posts.ts', await api.listen()]);
      await api.stop();

      expect(stdout.split('\n')).toEqual([
        'Created post 1, and the same again: 1',
        'Nothing was overwritten: Ada, Analytical Engine On by notes the with',
        'Listed 1 posts, up to "Notes"',
        'Still Ada, with tokens that were refreshed on the way',
        '',
      ]);
    },
  );

  it.each(['posts', 'posts-events'])('prints the error of the service: %s.ts', async (script) => {
    const api = await startApi(ANY_STORE, { WRITE_ACCESS: 'staff' });
    const url = await api.listen();
    const rejected = run(process.execPath, [`examples/client/${script}.ts`, url]);
    await expect(rejected).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/^\/v1\/posts responded with 40[13]: \S[^\n]+\n$/),
    });
    await api.stop();
  });

  it('prints one line if the service does not respond', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    await expect(run(process.execPath, ['examples/client/posts.ts', nowhere])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^No response from http:\S+: .*ECONNREFUSED[^\n]*\n$/),
    });
  });
});

onEach('the script of the guide that fills a service', {}, ({ api }) => {
  it('creates each post once, however often it runs', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'fill-'));
    const [script] = /```js\n(import \{ createHash[^]*?)```/
      .exec(readFileSync('docs/idempotency.md', 'utf8'))!
      .slice(1);
    await writeFile(join(folder, 'fill.mjs'), script!.replace('http://127.0.0.1:3000', await api.listen()));
    const fill = async (...titles: string[]) => {
      const lines = titles.map((title) => JSON.stringify({ title, content: 'Some content' }));
      await writeFile(join(folder, 'posts.ndjson'), lines.join('\n'));
      return (await run(process.execPath, ['fill.mjs'], { cwd: folder })).stdout;
    };

    expect(await fill('First', 'Second')).toBe('201 /v1/posts/1\n201 /v1/posts/2\n');
    expect(await fill('First', 'Second', '', 'Third')).toMatch(
      /^201 \/v1\/posts\/1\n201 \/v1\/posts\/2\n422 .*title.*\n201 \/v1\/posts\/3\n$/,
    );
    expect((await api.get('/v1/posts')).body.meta.total).toBe(3);
    await rm(folder, { recursive: true });
  });
});
