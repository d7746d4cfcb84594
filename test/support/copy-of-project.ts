import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const EXCLUDED = new Set(['node_modules', 'dist', 'data', '.git', 'coverage']);

/** A copy of the project that tests may change, with the same dependencies. */
export class CopyOfProject {
  readonly folder = mkdtempSync(join(tmpdir(), 'posts-api-copy-'));

  constructor() {
    cpSync('.', this.folder, { recursive: true, filter: (file) => !EXCLUDED.has(basename(file)) });
    symlinkSync(resolve('node_modules'), join(this.folder, 'node_modules'));
  }

  /** @returns the exit code and the output */
  async run(command: string, ...parameters: string[]): Promise<{ code: number; output: string }> {
    return run(command, parameters, { cwd: this.folder, maxBuffer: 64 * 1024 * 1024 }).then(
      ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
      ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
    );
  }

  /** Like {@link run}, for a command that must succeed. @throws Error with the output */
  async mustRun(command: string, ...parameters: string[]): Promise<string> {
    const { code, output } = await this.run(command, ...parameters);
    if (code !== 0) throw new Error(`${command} ${parameters.join(' ')} failed:\n${output}`);
    return output;
  }

  write(file: string, text: string): void {
    const path = join(this.folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  /** Replaces the first match of each place. @throws Error if a place does not exist */
  edit(file: string, changes: readonly (readonly [place: RegExp, text: string])[]): void {
    const path = join(this.folder, file);
    const text = changes.reduce(
      (before, [place, replacement]) => {
        if (!place.test(before)) throw new Error(`${file} has no place ${place}`);
        return before.replace(place, replacement);
      },
      readFileSync(path, 'utf8'),
    );
    writeFileSync(path, text);
  }

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
