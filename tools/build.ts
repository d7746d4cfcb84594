/**
 * `npm run build`: compiles `src` in a temporary folder and renames it to `dist`, so that a running process
 * never loads a partial build; and creates the files for browsers under `public/`, also compressed. Sources that have
 * not changed since the last build are not compiled again. An import of a package that production does not have is an
 * error. `npm start` does not wait for the app and the guides: a page of them is 503 until another process has built it.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { compress, put } from './build/files.ts';
import { removeAborted, swapIn } from './build/folder.ts';
import { scalarScript, servedReferences } from './build/reference.ts';
import { ImportError, rejectDevelopmentImports } from './production-imports.ts';

/** Files of other packages that are served from here, because pages load nothing from other hosts. */
const VENDOR = {
  'graphiql/graphiql.min.js': 'playground/vendor/graphiql.js',
  'graphiql/graphiql.min.css': 'playground/vendor/graphiql.css',
  'react-18/umd/react.production.min.js': 'playground/vendor/react.js',
  'react-dom-18/umd/react-dom.production.min.js': 'playground/vendor/react-dom.js',
};

const { values } = parseCommandLine('Usage: npm run build [-- --pages-later]', {
  options: { 'pages-later': { type: 'boolean', default: false } },
});

removeAborted();
// A folder says that its pages are there, or will follow.
mkdirSync('public/guides', { recursive: true });
if (existsSync('web')) mkdirSync('public/app', { recursive: true });
else rmSync('public/app', { recursive: true, force: true });
const pages = values['pages-later'] ? undefined : once(buildPages(), 'exit');

for (const [from, to] of Object.entries(VENDOR)) put(`public/${to}`, readFileSync(`node_modules/${from}`));
for (const [file, document] of servedReferences()) put(`public/reference/${file}`, document);
put('public/site/vendor/scalar.js', await scalarScript());

for (const file of globSync('public/!(app|guides)/**/*.{js,css,json,svg}')) compress(file);

const made = `.build-${process.pid}`;
/** In `dist`: what it was compiled from. */
const FINGERPRINT = '.fingerprint';
const fingerprint = fingerprintOfSources();
if (!existsSync(`dist/${FINGERPRINT}`) || readFileSync(`dist/${FINGERPRINT}`, 'utf8') !== fingerprint)
  compile();
if (pages !== undefined) {
  if ((await pages)[0] !== 0) process.exitCode = 1;
} else if (!process.exitCode) {
  // Beside the service, which starts sooner when the compiler is alone.
  buildPages().unref();
}

/** In a process of its own: the compiler blocks this one. */
function buildPages(): ChildProcess {
  return spawn(process.execPath, ['--no-warnings', 'tools/build-pages.ts'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function compile(): void {
  try {
    continueFrom('dist');
    const options = ['--outDir', made, '--tsBuildInfoFile', `${made}/.tsbuildinfo`];
    execFileSync(
      process.execPath,
      ['node_modules/typescript-7/bin/tsc', '-p', 'tsconfig.build.json', ...options],
      {
        stdio: 'inherit',
      },
    );
    removeLeftOvers();
    rejectDevelopmentImports(compiledSources().map((file) => [file, outputOf(file, made)]));
    writeFileSync(`${made}/${FINGERPRINT}`, fingerprint);
    swapIn(made, 'dist');
  } catch (error) {
    // The compiler has printed its errors.
    if (error instanceof ImportError) console.error(error.message);
    else if (!(error as { status?: number }).status) throw error;
    process.exitCode = 1;
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** A hash of the sources, the options of the compiler, and the lock file, which stands for the installed packages. */
function fingerprintOfSources(): string {
  const hash = createHash('sha256');
  const options = [
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'tools/build.ts',
  ];
  for (const file of [...options, ...compiledSources().toSorted()]) {
    hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function compiledSources(): string[] {
  return globSync('src/**/*.ts', { exclude: (file) => file.endsWith('.spec.ts') });
}

function outputOf(source: string, build: string): string {
  return source.replace(/^src/, build).replace(/\.ts$/, '.js');
}

/** Copies a build, so that the compiler compiles only what has changed since; an incomplete one it ignores. */
function continueFrom(build: string): void {
  if (!existsSync(`${build}/.tsbuildinfo`)) return;
  if (compiledSources().every((file) => existsSync(outputOf(file, build))))
    cpSync(build, made, { recursive: true });
}

/** Removes what the compiler has created from sources that no longer exist. */
function removeLeftOvers(): void {
  const outputs = new Set(compiledSources().map((file) => outputOf(file, made)));
  for (const file of globSync(`${made}/**/*.js`)) {
    if (outputs.has(file)) continue;
    rmSync(file);
    rmSync(`${file}.map`, { force: true });
  }
}
