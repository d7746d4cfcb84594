import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CopyOfProject } from '../support/copy-of-project.js';
import { Service } from '../support/service.js';
import { ANY_STORE, createStore, type TestStore } from '../support/stores.js';

const NEST = 'node_modules/@nestjs/cli/bin/nest.js';

/** https://docs.nestjs.com/recipes/crud-generator, in a copy of the project. */
describe('nest generate resource', () => {
  let copy: CopyOfProject;
  let store: TestStore;
  beforeAll(async () => {
    copy = new CopyOfProject();
    store = await createStore(ANY_STORE);
  });
  afterAll(async () => {
    copy.remove();
    await store.remove();
  });

  const nest = async (...parameters: string[]) => {
    const { code, output } = await copy.run(process.execPath, NEST, ...parameters);
    expect([code, code === 0 ? '' : output]).toEqual([0, '']);
  };

  it('generates modules that compile, are registered, and require an account by default', async () => {
    await nest('generate', 'resource', 'cats', '--type', 'rest', '--crud', '--no-spec');
    await nest('generate', 'resource', 'dogs', '--type', 'graphql-code-first', '--crud', '--no-spec');
    await nest('build');

    const service = await Service.start(store.environment, join(copy.folder, 'dist/main.js'));
    const cats = await service.fetch('/cats');
    const dogs = await service.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ dog(id: 1) { exampleField } }' }),
    });
    await service.end('SIGKILL');

    expect([cats.status, await cats.json()]).toMatchObject([401, { error: { code: 'UNAUTHENTICATED' } }]);
    expect(await dogs.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  }, 120_000);

  it('needs a summary of each handler for the contracts, which a sentence says', async () => {
    const rejected = await copy.run('npm', 'run', '--silent', 'contracts');
    expect(rejected.code).toBe(1);
    expect(rejected.output).toContain('#/paths/~1cats/get/summary');
    expect(rejected.output).toContain('Add what is missing to the handler of each path');
    expect(rejected.output).not.toMatch(/\n\s+at /);

    const controller = join(copy.folder, 'src/cats/cats.controller.ts');
    const summarized = readFileSync(controller, 'utf8').replaceAll(
      /^ {2}@(?:Get|Post|Patch|Delete)\(/gm,
      `  @ApiOperation({ summary: 'About cats' })\n$&`,
    );
    writeFileSync(controller, `import { ApiOperation } from '@nestjs/swagger';\n${summarized}`);
    expect(await copy.run('npm', 'run', '--silent', 'contracts')).toMatchObject({ code: 0 });
  }, 120_000);
});
