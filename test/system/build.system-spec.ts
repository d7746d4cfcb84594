import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
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

  it('lets the service start before the app and the guides are built, which are 503 until then', async () => {
    for (const folder of ['app', 'guides']) rmSync(join(copy.folder, 'public', folder), { recursive: true });
    const options = ['--no-warnings', 'tools/build.ts', '--pages-later'];
    const buildSoon = async () => {
      const building = spawn(process.execPath, options, {
        cwd: copy.folder,
        stdio: 'ignore',
        detached: true,
      });
      expect(await once(building, 'exit')).toEqual([0, null]);
      return building.pid!;
    };
    // As Ctrl-C does, so that no page is built when the service starts.
    process.kill(-(await buildSoon()), 'SIGKILL');
    const store = await createStore(ANY_STORE);
    const service = await Service.start(store.environment, main());
    const pages = {
      '/guides/http': 'The guides are',
      '/account/': 'The account page is',
      '/admin/': 'The console is',
    };
    const early = await Promise.all(
      Object.entries(pages).map(async ([path, what]) => ({
        what,
        program: await service.fetch(path),
        person: await service.fetch(path, { headers: { accept: 'text/html' } }),
      })),
    );

    for (const { what, program, person } of early) {
      for (const response of [program, person]) {
        expect(response.status).toBe(503);
        expect(response.headers.get('retry-after')).toBe('5');
      }
      expect(await program.json()).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
      expect(await person.text()).toContain(`${what} being built`);
    }
    await buildSoon();
    for (const path of Object.keys(pages)) {
      while ((await service.fetch(path)).status === 503) await sleep(200);
      expect((await service.fetch(path)).status).toBe(200);
    }
    const account = await (await service.fetch('/account/')).text();
    const [script] = /(?<=src="\.\.)\/app\/assets\/[^"]+/.exec(account)!;
    expect((await service.fetch(script)).status).toBe(200);
    expect((await service.fetch('/guides/nowhere')).status).toBe(404);
    await service.end();
    await store.remove();
  });

  it('has neither account page nor console without the folder web, and says so', async () => {
    renameSync(join(copy.folder, 'web'), join(copy.folder, 'web-away'));
    expect(await build()).toMatchObject({ code: 0 });
    const store = await createStore(ANY_STORE);
    const service = await Service.start(store.environment, main());
    const home = await (await service.fetch('/', { headers: { accept: 'text/html' } })).text();

    expect(home).toContain('The account page and the console are not part of this build.');
    for (const path of ['/account/', '/admin/']) {
      expect(home).not.toContain(`"${path}"`);
      expect((await service.fetch(path)).status).toBe(404);
    }
    await service.end();
    await store.remove();
    renameSync(join(copy.folder, 'web-away'), join(copy.folder, 'web'));
  });

  it('removes what a build has left behind that was stopped, and not that of one that runs', async () => {
    const stopped = spawn(process.execPath, ['--version'], { stdio: 'ignore' });
    await once(stopped, 'exit');
    const [running, ...left] = [
      process.pid,
      stopped.pid,
      `guides-${stopped.pid}`,
      `guides-${stopped.pid}-sources`,
    ];
    for (const name of [running, ...left]) copy.write(`.build-${name}/a-file`, '');

    expect(await build()).toMatchObject({ code: 0 });

    const folders = readdirSync(copy.folder).filter((name) => name.startsWith('.build-'));
    expect(folders).toEqual([`.build-${running}`]);
    rmSync(join(copy.folder, `.build-${running}`), { recursive: true });
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
