import '../require-node.js';
import { parseCommandLine } from './support/command-line.js';

const USAGE = `Usage: npm run backup -- <file>

Copies the embedded database to a new file. It works while the service runs: the copy contains every change that was
acknowledged before the command started. The copy is checked, and only its owner can read it. To restore it, see
docs/operations.md, also for PostgreSQL.`;

const { positionals } = parseCommandLine(USAGE, { allowPositionals: true });

// Loaded after the flags are parsed, so that `--help` is fast.
const { isEmbedded } = await import('../platform/database/data-source.js');
const { backUpDatabase } = await import('../platform/database/sqlite/backup.js');
const { runCommand, UsageError } = await import('./support/run-command.js');

await runCommand(async ({ store }) => {
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError(USAGE);
  if (!isEmbedded(store)) {
    throw new UsageError('DATABASE_URL is set: back PostgreSQL up with pg_dump, see docs/operations.md');
  }
  backUpDatabase(store, file);
  console.log(`Backed up the database to ${file} and checked the copy`);
  console.log('Keep JWT_SECRET (or jwt-secret in DATA_DIR) and ENCRYPTION_KEY, too: they are not part of it');
  return 0;
});
