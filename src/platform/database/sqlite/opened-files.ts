import { accessSync, constants, statSync } from 'node:fs';

const MOVED = 'The database file was deleted or replaced while the service had it open';

/** The files of the database, as they were when they were opened: another process may delete or replace them. */
export class OpenedFiles {
  private readonly names: readonly string[];
  private readonly identities = new Map<string, string>();

  constructor(private readonly file: string) {
    // What was committed is in the log until it is copied into the file.
    this.names = [file, `${file}-wal`];
  }

  /** Whether the file can be opened for writing. SQLite opens it for reading only, where it cannot. */
  get isWritable(): boolean {
    try {
      accessSync(this.file, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  }

  /** They were opened again. */
  forget(): void {
    this.identities.clear();
  }

  /**
   * Compares them with those that were opened: what is written to a deleted file is gone after the next start. It takes
   * some microseconds. (Opening a file here would drop the locks of SQLite when it is closed.)
   *
   * @throws Error with SQLite's code for a file that was moved
   */
  check(): void {
    for (const name of this.names) {
      const found = identityOf(name);
      const opened = this.identities.get(name);
      if (opened === undefined && found !== undefined) this.identities.set(name, found);
      if (opened !== undefined && opened !== found) {
        throw Object.assign(new Error(MOVED), { code: 'SQLITE_READONLY_DBMOVED' });
      }
    }
  }
}

function identityOf(file: string): string | undefined {
  const stats = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stats && `${stats.dev}:${stats.ino}`;
}
