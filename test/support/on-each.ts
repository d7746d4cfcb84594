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
  /** Servers that the application calls. They start before it, and it gets their settings. */
  readonly servers?: { readonly [name in keyof S]: () => S[name] };
}

/** What the tests of a database share. Only tests and hooks can use it: nothing has started when they are defined. */
type Fixture<S extends Servers> = S & { readonly api: TestApi; readonly store: StoreName };

/** Defines tests that run on each database, with one application for each. Its clock is reset after each test. */
export function onEach<S extends Servers = {}>(
  title: string,
  { stores = STORES, settings, modules, servers: create }: Options<S>,
  define: (fixture: Fixture<S>) => void,
): void {
  describe.each(stores)(`${title} on %s`, (store) => {
    const api = new TestApi();
    const servers = Object.fromEntries(Object.entries(create ?? {}).map(([name, make]) => [name, make()]));
    beforeAll(async () => {
      for (const server of Object.values(servers)) await server.start();
      const ofServers = Object.values(servers).map((server) => server.settings);
      const own = typeof settings === 'function' ? settings() : settings;
      await startApi(store, Object.assign({}, ...ofServers, own), modules, api);
    });
    define({ api, store, ...servers } as Fixture<S>);
    // After the hooks of the tests: the clock is that of the test until they end.
    afterEach(() => api.resetClock());
    afterAll(async () => {
      try {
        await api.stop();
      } finally {
        for (const server of Object.values(servers)) await server.stop();
      }
    });
  });
}
