import '../require-node.js';
import { parseCommandLine } from './support/command-line.js';
import { Progress } from './support/progress.js';

const USAGE = `Usage: npm run restore -- <file>

Replaces the embedded database by a backup. The service has to be stopped. The backup is verified before anything
changes, and the replaced database is kept in the same folder.

On PostgreSQL it takes no file: restore with pg_restore, or recover to a point in time, then run it once before the
service starts. See docs/operations.md.`;

const { positionals } = parseCommandLine(USAGE, { allowPositionals: true });

// Loaded after the flags are parsed, so that `--help` is fast.
const { finishRestore } = await import('../database/after-restore.js');
const { restoreDatabase } = await import('../database/sqlite/restore.js');
const { operator } = await import('./support/operator.js');
const { runCommand, UsageError } = await import('./support/run-command.js');

await runCommand(async (config) => {
  const { store } = config;
  if (positionals.length !== (store.kind === 'sqlite' ? 1 : 0)) throw new UsageError(USAGE);
  if (store.kind === 'postgres') {
    await finishRestore(config, operator());
    console.log('The restored database is ready for the service');
    return 0;
  }
  const [file = ''] = positionals;
  let progress: Progress | undefined;
  const kept = await restoreDatabase(store, file, operator(), (done, total) => {
    progress ??= new Progress('pages', total);
    progress.show(done);
  });
  progress?.end();
  console.log(`The database in ${store.directory} is now that of ${file}`);
  if (kept !== undefined) console.log(`The one that was there before is kept as ${kept}`);
  return 0;
});
