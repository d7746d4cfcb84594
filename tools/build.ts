/**
 * `npm run build`: compiles `src` in a temporary folder and renames it to `dist`, so that a running process
 * never loads a partial build; and creates the files for browsers under `public/`, also compressed. Sources that have
 * not changed since the last build are not compiled again. An import of a package that production does not have is an
 * error.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { parseCommandLine } from '../src/commands/support/command-line.ts';
import { buildGuides, fingerprintOfGuides } from './guides/build-guides.ts';
import { ImportError, rejectDevelopmentImports } from './production-imports.ts';
import { forMode } from './served-openapi.ts';

/** Files of other packages that are served from here, because pages load nothing from other hosts. */
const VENDOR = {
  'graphiql/graphiql.min.js': 'playground/vendor/graphiql.js',
  'graphiql/graphiql.min.css': 'playground/vendor/graphiql.css',
  'react/umd/react.production.min.js': 'playground/vendor/react.js',
  'react-dom/umd/react-dom.production.min.js': 'playground/vendor/react-dom.js',
  'minisearch/dist/es/index.js': 'site/vendor/minisearch.js',
  'qrcode-generator/dist/qrcode.mjs': 'account/vendor/qrcode.js',
  '@zxcvbn-ts/core/dist/zxcvbn-ts.js': 'account/vendor/zxcvbn.js',
  '@zxcvbn-ts/language-common/dist/zxcvbn-ts.js': 'account/vendor/zxcvbn-words.js',
  'swagger-ui-dist/swagger-ui-bundle.js': 'docs/vendor/swagger-ui.js',
  'swagger-ui-dist/swagger-ui.css': 'docs/vendor/swagger-ui.css',
};

parseCommandLine('Usage: npm run build');

for (const [from, to] of Object.entries(VENDOR)) put(`public/${to}`, readFileSync(`node_modules/${from}`));
for (const [file, document] of servedReferences()) put(`public/reference/${file}`, Buffer.from(document));
putGuides();

for (const file of globSync('public/**/*.{js,css,json,svg}')) compress(file);

const made = `.build-${process.pid}`;
const old = `${made}-old`;
/** In `dist`: what it was compiled from. */
const FINGERPRINT = '.fingerprint';
const fingerprint = fingerprintOfSources();
if (existsSync(`dist/${FINGERPRINT}`) && readFileSync(`dist/${FINGERPRINT}`, 'utf8') === fingerprint)
  process.exit();

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
  swapIn();
} catch (error) {
  // The compiler has printed its errors.
  if (error instanceof ImportError) console.error(error.message);
  else if (!(error as { status?: number }).status) throw error;
  process.exitCode = 1;
} finally {
  for (const folder of [made, old]) rmSync(folder, { recursive: true, force: true });
}

/** The committed reference as the service sends it: for each mode, without indentation. */
function servedReferences(): Map<string, string> {
  const committed = readFileSync('public/openapi.json', 'utf8');
  return new Map(
    (['open', 'accounts'] as const).map((mode) => [
      `${mode}/openapi.json`,
      JSON.stringify(forMode(JSON.parse(committed), mode)),
    ]),
  );
}

/** Builds the guides if they have changed, and deletes the pages of guides that are gone. */
function putGuides(): void {
  const file = 'public/guides/.fingerprint';
  const current = fingerprintOfGuides();
  if (existsSync(file) && readFileSync(file, 'utf8') === current) return;
  const pages = buildGuides();
  for (const page of globSync('public/guides/**/*.html')) {
    if (!pages.has(page.replace(/^public\//, ''))) rmSync(page);
  }
  for (const [page, content] of pages) put(`public/${page}`, Buffer.from(content));
  write(file, Buffer.from(current));
}

/** Writes compressed copies next to a file, which the service sends to clients that accept them. */
function compress(file: string): void {
  const { mtimeMs } = statSync(file);
  const isCurrent = (copy: string) => existsSync(copy) && statSync(copy).mtimeMs > mtimeMs;
  if (isCurrent(`${file}.br`) && isCurrent(`${file}.gz`)) return;
  const content = readFileSync(file);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
  write(`${file}.gz`, gzipSync(content, { level: 9 }));
  write(`${file}.br`, brotliCompressSync(content, { params }));
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

/** Tries again when another build renames at the same time. */
function swapIn(attempts = 10): void {
  try {
    rmSync(old, { recursive: true, force: true });
    if (existsSync('dist')) renameSync('dist', old);
    renameSync(made, 'dist');
  } catch (error) {
    if (attempts === 0) throw error;
    swapIn(attempts - 1);
  }
}

/** Writes a file atomically, and only if it differs: a running service may be sending it. */
function put(file: string, content: Buffer): void {
  if (!existsSync(file) || !readFileSync(file).equals(content)) write(file, content);
}

function write(file: string, content: Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, content);
  renameSync(`${file}.${process.pid}`, file);
}
