import { execFile } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

/** The commands of the packages of this folder. */
export const BIN = resolve('test/extra/node_modules/.bin');

/** @returns a new folder in which the packages of this folder and of the project are found */
export const makeFolder = (): string => mkdtempSync(resolve('test/extra/.generated-'));

/** @throws Error with the output when the command fails */
export const run = (command: string, parameters: readonly string[], cwd = process.cwd()) =>
  promisify(execFile)(command, parameters, { cwd }).catch(({ stdout, stderr }) => {
    throw new Error(`${command} failed:\n${stdout}${stderr}`);
  });

const STRICT =
  '--ignoreConfig --strict --moduleResolution bundler --target es2024 --lib es2024,dom,dom.iterable';

/** Compiles what a generator has made. */
export const compile = (parameters: readonly string[], cwd: string) =>
  run(
    process.execPath,
    [resolve('node_modules/typescript-7/bin/tsc'), ...STRICT.split(' '), ...parameters],
    cwd,
  );
