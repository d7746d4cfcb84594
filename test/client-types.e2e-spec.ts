import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';

const run = promisify(execFile);

describe('the typed client', () => {
  it('has the types of the current OpenAPI document', async () => {
    const command = await readFile('src/commands/contracts.ts', 'utf8');
    const [, options] = /'(public\/openapi\.json.*) -o/.exec(command)!;

    const { stdout } = await run('node_modules/.bin/openapi-typescript', options!.split(' '));

    expect(await readFile('examples/client/api.d.ts', 'utf8')).toBe(stdout.trimStart());
  });
});
