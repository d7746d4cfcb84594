import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { promisify } from 'node:util';
import { compress } from './files.ts';

/**
 * Builds a folder in one step, so that a running service never sees an incomplete one, unless it was built from the same
 * sources.
 *
 * @param sources patterns; the lock file, which stands for the installed packages, is always one of them
 * @param build fills the folder that it is given
 */
export async function buildFolder(
  folder: string,
  sources: readonly string[],
  build: (made: string) => Promise<void>,
): Promise<void> {
  const fingerprint = fingerprintOf(['package-lock.json', ...sources]);
  const file = `${folder}/.fingerprint`;
  if (existsSync(file) && readFileSync(file, 'utf8') === fingerprint) return;
  const made = `.build-${basename(folder)}-${process.pid}`;
  try {
    await build(made);
    for (const each of globSync(`${made}/**/*.{js,css}`)) compress(each);
    writeFileSync(`${made}/.fingerprint`, fingerprint);
    swapIn(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

/** Removes what builds have left behind that were stopped, such as by Ctrl-C. */
export function removeAborted(): void {
  for (const folder of globSync('.build-*'))
    if (!isRunning(Number(/\d+/.exec(folder)))) rmSync(folder, { recursive: true, force: true });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Puts a new folder in the place of the former one. Tries again when another build does the same at the same time. */
export function swapIn(made: string, folder: string, attempts = 10): void {
  const old = `${made}-old`;
  try {
    rmSync(old, { recursive: true, force: true });
    if (existsSync(folder)) renameSync(folder, old);
    renameSync(made, folder);
  } catch (error) {
    if (attempts === 0) throw error;
    swapIn(made, folder, attempts - 1);
  } finally {
    rmSync(old, { recursive: true, force: true });
  }
}

/**
 * Runs the program of a package, whose output is shown only if it fails. It is a process of its own: the compiler blocks
 * this one.
 */
export async function runTool(program: string, options: readonly string[], cwd = '.'): Promise<void> {
  const script = `${process.cwd()}/node_modules/${program}`;
  const run = promisify(execFile)(process.execPath, [script, ...options], {
    cwd,
    // Tests set another, which React and Vue take for development.
    env: { ...process.env, NODE_ENV: 'production' },
  });
  await run.catch((error: { stdout: string; stderr: string }) => {
    process.stderr.write(error.stdout + error.stderr);
    throw error;
  });
}

function fingerprintOf(patterns: readonly string[]): string {
  const hash = createHash('sha256');
  const files = patterns.flatMap((pattern) => globSync(pattern)).filter((file) => statSync(file).isFile());
  for (const file of files.toSorted()) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}
