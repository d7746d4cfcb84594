import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
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

  remove(): void {
    rmSync(this.folder, { recursive: true });
  }
}
