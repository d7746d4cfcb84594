import { createRequire } from 'node:module';
import { expect, it, jest } from '@jest/globals';
import Runtime from 'jest-runtime';

const require = createRequire(import.meta.url);

const HINT = 'See docs/decisions/0007-tests.md before you change the version of Jest';

it.each(['jest', 'jest-circus', 'jest-runner', 'jest-runtime'])(
  '%s has the version that was checked',
  (name) => {
    expect([require(`${name}/package.json`).version, HINT]).toEqual(['30.5.2', HINT]);
  },
);

/** They are not documented, so they may change in any version. */
it('the members of jest-runtime that runtime.ts depends on are there', () => {
  const { prototype, length } = Runtime as unknown as { prototype: object; length: number };

  expect(Object.getOwnPropertyNames(prototype)).toEqual(
    expect.arrayContaining([
      'getSourceMaps',
      'requireInternalModule',
      'requireModule',
      'requireModuleOrMock',
      'setGlobalsForRuntime',
      'unstable_importModule',
      'unstable_shouldLoadAsEsm',
    ]),
  );
  // The fourth is the transformer.
  expect([length, HINT]).toEqual([8, HINT]);
});

it('Jest keeps the state of a test file where runtime.ts removes it', () => {
  const handlers = (globalThis as any)[Symbol.for('EVENT_HANDLERS')] as unknown[];

  // As many in each file: the handlers of earlier files are gone.
  expect([handlers.length, HINT]).toEqual([7, HINT]);
});

it.each(['mock', 'doMock', 'resetModules', 'requireActual'] as const)(
  'jest.%s says that it is not supported',
  (name) => {
    expect(() => (jest[name] as () => void)()).toThrow('not supported');
  },
);
