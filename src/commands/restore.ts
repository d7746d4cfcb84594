import '../require-node.js';
import { parseCommandLine, YES } from './support/command-line.js';
import { Progress } from './support/progress.js';

const USAGE = `Usage: npm run restore -- [--yes] <file>     (embedded database)
       npm run restore                      (PostgreSQL)

Replaces the embedded database with a backup. Stop the service first. The backup is verified before anything changes,
and the previous database is saved next to the new one. Without a previous database, the command asks before it creates
one; --yes skips the question.

With PostgreSQL, pass no file: restore with pg_restore, or recover to a point in time, then run it once before the
service starts. See docs/operations.md.`;

const { values, positionals } = parseCommandLine(USAGE, { options: YES, allowPositionals: true });

// Loaded after the flags are parsed, so that `--help` is fast.
const { restoreEntry } = await import('../audit/restore-entry.js');
const { isEmbedded } = await import('../database/data-source.js');
const { finishRestore } = await import('../database/postgres/restore.js');
const { restoreDatabase } = await import('../database/sqlite/restore.js');
const { operator } = await import('./support/operator.js');
const { runCommand, UsageError } = await import('./support/run-command.js');
const { nameTarget } = await import('./support/target-database.js');

await runCommand(async (config) => {
  const { store } = config;
  if (positionals.length !== (isEmbedded(store) ? 1 : 0)) throw new UsageError(USAGE);
  await nameTarget(store, values.yes);
  const entry = () => restoreEntry(operator(), new Date().toISOString());
  if (!isEmbedded(store)) {
    await finishRestore(config, entry());
    console.log('The restored database is ready for the service');
    return 0;
  }
  const [file = ''] = positionals;
  let progress: Progress | undefined;
  const kept = await restoreDatabase(store, file, entry, (done, total) => {
    progress ??= new Progress('pages', total);
    progress.show(done);
  });
  progress?.end();
  console.log(`Restored ${file} to ${store.directory}`);
  if (kept !== undefined) console.log(`The previous database was saved as ${kept}`);
  return 0;
});
