import { existsSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type JestRuntime = require('jest-runtime');
import { provide } from './globals.ts';

// Its types describe the CommonJS module.
const { default: Runtime } = createRequire(import.meta.url)('jest-runtime') as typeof JestRuntime;

type Runtime = JestRuntime.default;
type Options = ConstructorParameters<typeof Runtime>;
type Globals = Parameters<typeof provide>[0];

/** For the transform: Node loads its result as an ES module. */
const MODULE = {
  isInternalModule: false,
  supportsDynamicImport: true,
  supportsExportNamespaceFrom: true,
  supportsStaticESM: true,
  supportsTopLevelAwait: true,
  collectCoverage: false,
  collectCoverageFrom: [],
  coverageProvider: 'v8' as const,
};

/** Methods of the `jest` object that replace or reset modules, which the tests of a process share. */
const UNSUPPORTED = [
  'autoMockOff',
  'autoMockOn',
  'createMockFromModule',
  'deepUnmock',
  'disableAutomock',
  'doMock',
  'dontMock',
  'enableAutomock',
  'isolateModules',
  'isolateModulesAsync',
  'mock',
  'onGenerateMock',
  'requireActual',
  'requireMock',
  'resetModules',
  'setMock',
  'unmock',
  'unstable_mockModule',
  'unstable_unmockModule',
] as const;

/** Compiles the modules, with the settings of the project of the test file that is running. */
let transformer: Options[3] | undefined;
/** Source maps by the URL of their module, for the lines of errors. */
const sourceMaps = new Map<string, string>();
/** Makes Node load a test file again, in watch mode or in the next test. */
let loads = 0;

/**
 * Runs test files like the runtime of Jest, except that Node loads the modules: once for all test files of a process.
 * Only test files and their setup files are loaded again each time. It depends on undocumented members, which
 * `jest.spec.ts` checks (decision 7).
 */
export default class NativeRuntime extends Runtime {
  constructor(...options: Options) {
    super(...options);
    transformer = options[3];
  }

  override unstable_shouldLoadAsEsm(): boolean {
    return true;
  }

  /** Loads a test file or a setup file. */
  override async unstable_importModule(path: string): Promise<unknown> {
    const url = pathToFileURL(path);
    url.searchParams.set('load', String(++loads));
    return import(url.href);
  }

  override requireModule(from: string, name?: string): any {
    return createRequire(from)(name ?? from);
  }

  /** Loads Jest's own modules. Its state of a test file is in one of them, which is loaded again for each file. */
  override requireInternalModule(from: string, to?: string): any {
    const require = createRequire(from);
    if (to === undefined) {
      delete require.cache[from];
      Reflect.deleteProperty(globalThis, Symbol.for('EVENT_HANDLERS'));
    }
    return require(to ?? from);
  }

  override setGlobalsForRuntime(globals: Parameters<Runtime['setGlobalsForRuntime']>[0]): void {
    super.setGlobalsForRuntime(globals);
    const all = this.requireModuleOrMock<Globals>(import.meta.filename, '@jest/globals');
    const unsupported = UNSUPPORTED.map((name) => [name, () => reject(name)]);
    provide({ ...all, jest: { ...all.jest, ...Object.fromEntries(unsupported) } });
  }

  override getSourceMaps(): ReadonlyMap<string, string> {
    return sourceMaps;
  }
}

function reject(name: string): never {
  throw new Error(
    `jest.${name} is not supported: the tests share modules that Node loads. Use jest.spyOn, or replace a provider (docs/decisions/0007-tests.md).`,
  );
}

/** @returns the code of a TypeScript module for Node, or nothing if Node can load the module as it is */
function compile(url: string): string | undefined {
  const path = fileURLToPath(url);
  if (!transformer?.shouldTransform(path)) return undefined;
  const { code, sourceMapPath } = transformer.transform(path, MODULE);
  if (sourceMapPath) sourceMaps.set(url, sourceMapPath);
  return code;
}

const GLOBALS = new URL('globals.ts', import.meta.url).href;

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '@jest/globals') return { url: GLOBALS, shortCircuit: true };
    // As the compiler does: `./name.js` is the source file `./name.ts`.
    if (specifier.startsWith('.') && specifier.endsWith('.js')) {
      const source = new URL(specifier.replace(/js$/, 'ts'), context.parentURL);
      if (existsSync(source)) return next(source.href, context);
    }
    return next(specifier, context);
  },
  load(url, context, next) {
    const source = url.startsWith('file:') && /\.ts(?:\?|$)/.test(url) ? compile(url) : undefined;
    return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true };
  },
});
