import '../require-node.js';
import { parseCommandLine } from './support/command-line.js';
import { Progress } from './support/progress.js';

const USAGE = `Usage: npm run backup -- <file>

Writes the embedded database into a new file, also while the service runs. The file contains everything that was
acknowledged before the start, is verified, and is readable by its owner only. For PostgreSQL see docs/operations.md.`;

const { positionals } = parseCommandLine(USAGE, { allowPositionals: true });

// Loaded after the flags are parsed, so that `--help` is fast.
const { backUpDatabase } = await import('../database/sqlite/backup.js');
const { runCommand, UsageError } = await import('./support/run-command.js');

await runCommand(async ({ store }) => {
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError(USAGE);
  if (store.kind !== 'sqlite') {
    throw new UsageError('DATABASE_URL is set: back PostgreSQL up with pg_dump, see docs/operations.md');
  }
  let progress: Progress | undefined;
  let pages = 0;
  await backUpDatabase(store, file, (done, total) => {
    progress ??= new Progress('pages', total);
    progress.show(done);
    pages = total;
  });
  progress?.end();
  console.log(`${file} holds the whole database, ${pages} pages, and is verified`);
  return 0;
});
