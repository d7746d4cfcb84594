import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CopyOfProject } from '../support/copy-of-project.js';
import { Service } from '../support/service.js';
import { ANY_STORE, createStore } from '../support/stores.js';

/** Builds in a copy of the project, because the tests run from the build of the project itself. */
describe('npm run build', () => {
  let copy: CopyOfProject;
  beforeAll(async () => {
    copy = new CopyOfProject();
    await build();
  });
  afterAll(() => copy.remove());

  const build = () => copy.run('npm', 'run', '--silent', 'build');
  const main = () => join(copy.folder, 'dist/main.js');

  it('replaces the build in one step, so that a running service never sees an incomplete one', async () => {
    const store = await createStore(ANY_STORE);
    const service = await Service.start(store.environment, main());
    writeFileSync(join(copy.folder, 'dist/left-over.js'), '');
    writeFileSync(join(copy.folder, 'src/new.ts'), '');
    const done = new AbortController();
    let incomplete = 0;
    const watching = (async () => {
      while (!done.signal.aborted) {
        // Between the two renames there is no build at all, for less than a millisecond.
        if (existsSync(join(copy.folder, 'dist')) && !existsSync(main())) incomplete++;
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();

    expect(await build()).toMatchObject({ code: 0 });
    done.abort();
    await watching;

    expect(incomplete).toBe(0);
    expect(existsSync(join(copy.folder, 'dist/left-over.js'))).toBe(false);
    expect(existsSync(join(copy.folder, 'dist/new.js'))).toBe(true);
    for (const path of ['/', '/site/vendor/scalar.js', '/v1/events', '/guides/http']) {
      expect((await service.fetch(path)).status).toBe(200);
    }
    await service.end();
    await store.remove();
    expect(readdirSync(copy.folder).filter((name) => name.startsWith('.build-'))).toEqual([]);
  });

  it('lets the service start before the guides are built, which are 503 until then', async () => {
    rmSync(join(copy.folder, 'public/guides'), { recursive: true });
    const options = ['--no-warnings', 'tools/build.ts', '--guides-later'];
    const building = spawn(process.execPath, options, { cwd: copy.folder, stdio: 'ignore' });
    expect(await once(building, 'exit')).toEqual([0, null]);
    const store = await createStore(ANY_STORE);
    const service = await Service.start(store.environment, main());
    const early = await service.fetch('/guides/http');
    const page = await service.fetch('/guides/http', { headers: { accept: 'text/html' } });

    for (const response of [early, page]) {
      expect(response.status).toBe(503);
      expect(response.headers.get('retry-after')).toBe('5');
    }
    expect(await early.json()).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
    expect(await page.text()).toContain('The guides are being built');
    while ((await service.fetch('/guides/http')).status === 503) await sleep(200);
    expect((await service.fetch('/guides/http')).status).toBe(200);
    expect((await service.fetch('/guides/nowhere')).status).toBe(404);
    await service.end();
    await store.remove();
  });

  it('compiles nothing when no source has changed', async () => {
    const { mtimeMs } = statSync(main());
    expect(await build()).toMatchObject({ code: 0 });
    expect(statSync(main()).mtimeMs).toBe(mtimeMs);
  });

  it('keeps the old build when the new one fails', async () => {
    const file = join(copy.folder, 'src/main.ts');
    const [source, before] = [readFileSync(file, 'utf8'), readFileSync(main(), 'utf8')];
    writeFileSync(file, `${source}\nconst wrong: number = 'text';\n`);

    const { code, output } = await build();

    expect(code).not.toBe(0);
    expect(output).toContain('src/main.ts');
    expect(readFileSync(main(), 'utf8')).toBe(before);
    writeFileSync(file, source);
  });

  it.each([
    [
      '@nestjs/schedule',
      `import { ScheduleModule } from '@nestjs/schedule';\nconsole.log(ScheduleModule);\n`,
    ],
    ['bullmq', `export const load = () => import('bullmq');\n`],
  ])('rejects the import of %s, which the image would not contain', async (name, source) => {
    const file = join(copy.folder, 'src/jobs.ts');
    writeFileSync(file, source);

    const { code, output } = await build();

    expect(code).toBe(1);
    expect(output).toContain(
      `src/jobs.ts imports ${name}, a development dependency: npm install --save-prod ${name}`,
    );
    expect(existsSync(join(copy.folder, 'dist/jobs.js'))).toBe(false);
    rmSync(file);
  });

  it('accepts an import of types from a development dependency', async () => {
    const file = join(copy.folder, 'src/jobs.ts');
    writeFileSync(file, `import type { Job } from 'bullmq';\nexport type Name = Job['name'];\n`);

    expect(await build()).toMatchObject({ code: 0 });
    rmSync(file);
  });
});
