import { readFileSync } from 'node:fs';

/** The import of a package in JavaScript, static or dynamic. */
const IMPORT = /^(?:import|export)\b[^;'"]*['"]([^.'"][^'"]*)['"]|\bimport\(\s*['"]([^.'"][^'"]*)['"]\s*\)/gm;

/** The reason why a build cannot run in production; printed without a stack. */
export class ImportError extends Error {}

/**
 * Checks that a build imports no development dependency, because `npm prune --omit=dev` removes these from the image.
 *
 * @param files of the build, each with its source; unlike the source, it imports no types
 * @throws ImportError which names the source and the package
 */
export function rejectDevelopmentImports(
  files: readonly (readonly [source: string, output: string])[],
): void {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const faults = files.flatMap(([source, output]) =>
    [...readFileSync(output, 'utf8').matchAll(IMPORT)]
      .map(([, fixed, dynamic]) => packageOf((fixed ?? dynamic)!))
      .filter((name) => name in devDependencies && !(name in dependencies))
      .map((name) => `${source} imports ${name}, a development dependency: npm install --save-prod ${name}`),
  );
  if (faults.length > 0) throw new ImportError(faults.join('\n'));
}

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
