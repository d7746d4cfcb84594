import '../require-node.js';
import { parseCommandLine } from './support/command-line.js';
import { countOf, Progress } from './support/progress.js';

const USAGE = `Usage: npm run backup -- <file>

Copies the embedded database to a new file. It works while the service runs: the copy contains every change that was
acknowledged before the command started. The copy is verified, and only its owner can read it. For PostgreSQL see
docs/operations.md.`;

const { positionals } = parseCommandLine(USAGE, { allowPositionals: true });

// Loaded after the flags are parsed, so that `--help` is fast.
const { isEmbedded } = await import('../database/data-source.js');
const { backUpDatabase } = await import('../database/sqlite/backup.js');
const { runCommand, UsageError } = await import('./support/run-command.js');

await runCommand(async ({ store }) => {
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError(USAGE);
  if (!isEmbedded(store)) {
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
  console.log(`Backed up ${countOf(pages, 'page')} to ${file} and verified the copy`);
  return 0;
});
