/**
 * Adds the `FixtureModule` to the application of the build, for a process of its own:
 * `node --import ./test/support/fixture-host.ts dist/main.js`.
 */
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { transformFileSync } from '@swc/core';
import { PROJECT } from '../../jest.config.ts';

const HERE = new URL('.', import.meta.url).href;
const [[, options]] = Object.values(PROJECT.transform) as [[string, object]];

registerHooks({
  // The sources of the fixture import `src/name.js`, which is `dist/name.js` here.
  resolve(specifier, context, nextResolve) {
    if (!specifier.startsWith('.') || !context.parentURL?.startsWith(HERE))
      return nextResolve(specifier, context);
    const { href } = new URL(specifier, context.parentURL);
    const isOwn = href.startsWith(HERE);
    return nextResolve(isOwn ? href.replace(/\.js$/, '.ts') : href.replace('/src/', '/dist/'), context);
  },
  // Node itself does not compile decorators.
  load(url, context, nextLoad) {
    if (!url.startsWith(HERE) || url === import.meta.url) return nextLoad(url, context);
    const { code } = transformFileSync(fileURLToPath(url), options);
    return { format: 'module', source: code, shortCircuit: true };
  },
});

const fromBuild = (path: string) => import(new URL(`../../dist/${path}`, import.meta.url).href);

const { createTables } = await import('./fixture/tables.js');
const { migrations } = await fromBuild('platform/database/migrations/index.js');
migrations.push(
  class Fixture1999999999999 {
    up = createTables;
    down = (): void => undefined;
  },
);
const { AppModule } = await fromBuild('app.module.js');
const { FixtureModule } = await import('./fixture.module.js');
Reflect.getMetadata('imports', AppModule).push(FixtureModule);
