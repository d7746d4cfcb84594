import type { Type } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';
import { type Settings, startApi, TestApi } from './api.js';
import { type StoreName, STORES } from './stores.js';
import type { TestServer } from './test-server.js';

type Servers = Readonly<Record<string, TestServer>>;

interface Options<S extends Servers> {
  /** All by default; `[ANY_STORE]` for what does not depend on the database. */
  readonly stores?: readonly StoreName[];
  /** A function is called when the servers have started. */
  readonly settings?: Settings | (() => Settings);
  /** They are added to those of the service; without the default ones, passwords have their full cost. */
  readonly modules?: readonly Type[];
  /** What the service calls: they start before it, which has their settings, too. */
  readonly servers?: { readonly [name in keyof S]: () => S[name] };
}

/** What the tests of a database share. Only tests and hooks can use it: nothing has started when they are defined. */
type Fixture<S extends Servers> = S & { readonly api: TestApi; readonly store: StoreName };

/** Tests on each database, with an application of their own. After each of them, its clock is right again. */
export function onEach<S extends Servers = {}>(
  title: string,
  { stores = STORES, settings, modules, servers }: Options<S>,
  define: (fixture: Fixture<S>) => void,
): void {
  describe.each(stores)(`${title} on %s`, (store) => {
    const api = new TestApi();
    const others = Object.entries(servers ?? {}).map(([name, create]) => [name, create()] as const);
    beforeAll(async () => {
      for (const [, server] of others) await server.start();
      const theirs = others.map(([, server]) => server.settings);
      const own = typeof settings === 'function' ? settings() : settings;
      await startApi(store, Object.assign({}, ...theirs, own), modules, api);
    });
    afterEach(() => api.resetClock());
    define({ api, store, ...Object.fromEntries(others) } as Fixture<S>);
    afterAll(async () => {
      await api.stop();
      for (const [, server] of others) await server.stop();
    });
  });
}
