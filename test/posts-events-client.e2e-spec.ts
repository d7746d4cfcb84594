import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from '@jest/globals';
import { startApi } from './support/api.js';
import { STORES } from './support/stores.js';

const run = promisify(execFile);

it.each(STORES)('the typed client follows the stream of events, on %s', async (name) => {
  const api = await startApi(name);
  const { stdout } = await run(process.execPath, ['examples/client/posts-events.ts', await api.listen()]);
  await api.stop();

  expect(stdout.split('\n')).toEqual(['post.created /v1/posts/1', 'post.published /v1/posts/1', '']);
});
