import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { Service } from './support/service.js';
import { createStore, STORES } from './support/stores.js';

const run = promisify(execFile);

describe('the typed client', () => {
  it('has the types of the reference as it is now', async () => {
    const { scripts } = JSON.parse(await readFile('package.json', 'utf8'));
    const [, options] = /openapi-typescript (.*) -o/.exec(scripts.contracts)!;

    const { stdout } = await run('node_modules/.bin/openapi-typescript', options!.split(' '));

    expect(await readFile('examples/client/api.d.ts', 'utf8')).toBe(stdout.trimStart());
  });

  it.each(STORES)('logs in, creates once, walks and refreshes, on %s', async (name) => {
    const store = await createStore(name);
    const service = await Service.start(store.environment);

    const { stdout } = await run(process.execPath, ['examples/client/example.ts', service.url]);
    await service.end('SIGTERM');
    await store.remove();

    expect(stdout.split('\n')).toEqual([
      'Created post 1, and the same again: 1',
      'Walked through 1 posts, up to "Notes"',
      'Still Ada, with tokens that were refreshed on the way',
      '',
    ]);
  });
});
