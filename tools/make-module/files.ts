import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { InputError } from './input-error.ts';

const APP_MODULE = 'src/app.module.ts';

/** The imports of a file from its own project, sorted by path. */
const IMPORTS = /(import .* from '\.\/.*';\n)+/;

/** What `npm run contracts` writes. */
const CONTRACTS = ['schema.gql', 'public/openapi.json', 'examples/client/api.d.ts'];

/** Generates the contracts again, and prints their paths. @throws InputError when that fails */
export function renewContracts(): void {
  const { status } = spawnSync('npm', ['run', '--silent', 'contracts'], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status !== 0) {
    throw new InputError(
      '\nThe files above are changed. Only the contracts are not: see the error before this line',
    );
  }
  for (const file of CONTRACTS) report('changed', file);
}

/**
 * Adds a module to the list of modules.
 *
 * @param name of its class, without `Module`
 * @param file of the module, without `.module.ts`, if it is not called like its folder
 */
export function register(files: string, name: string, file = files): void {
  edit(APP_MODULE, (text) =>
    text
      .replace(IMPORTS, (imports) => insertSorted(imports, importOf(files, name, file)))
      .replace(/(\n +)(AuthModule,)/, `$1${name}Module,$1$2`),
  );
}

const CONSOLE = 'web/admin/contents.ts';

/** Shows a resource in the console, if there is one. */
export function showInConsole(files: string): void {
  if (!existsSync(CONSOLE)) return;
  edit(CONSOLE, (text) =>
    text.replace(
      /(?<=const GUESSED: readonly string\[\] = \[)[^\]]*/,
      (names) => `${names === '' ? '' : `${names}, `}'${files}'`,
    ),
  );
}

/** Whether the list of modules has a module. */
export const isRegistered = (files: string, name: string): boolean =>
  readFileSync(APP_MODULE, 'utf8').includes(importOf(files, name));

const importOf = (files: string, name: string, file = files): string =>
  `import { ${name}Module } from './${files}/${file}.module.js';`;

function insertSorted(imports: string, line: string): string {
  const path = (text: string) => text.slice(text.indexOf(' from '));
  return [...imports.trimEnd().split('\n'), line]
    .toSorted((a, b) => (path(a) < path(b) ? -1 : 1))
    .map((text) => `${text}\n`)
    .join('');
}

export function edit(file: string, change: (text: string) => string): void {
  const text = readFileSync(file, 'utf8');
  const changed = change(text);
  if (changed === text) throw new Error(`${file} does not look as it should; it was not changed`);
  write(file, changed, 'changed');
}

/** Writes a file, and prints its path. */
export function write(file: string, text: string, what = 'created'): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  report(what, file);
}

/** Removes a file or folder, and prints its path. */
export function remove(file: string): void {
  rmSync(file, { recursive: true });
  report('removed', file);
}

/** Prints what was done to a file. */
const report = (what: string, file: string): void => console.log(`${what.padEnd(8)}${file}`);
