import type * as JestGlobals from '@jest/globals';

type Globals = typeof JestGlobals;

// The test files and their helpers import these as `@jest/globals`. Each test file has its own; an import always refers
// to those of the file that is running.
export let afterAll: Globals['afterAll'];
export let afterEach: Globals['afterEach'];
export let beforeAll: Globals['beforeAll'];
export let beforeEach: Globals['beforeEach'];
export let describe: Globals['describe'];
export let expect: Globals['expect'];
export let it: Globals['it'];
export let jest: Globals['jest'];
export let test: Globals['test'];

export function provide(globals: Globals): void {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest, test } = globals);
}
