import '../require-node.js';
import { parseCommandLine, rejectUsage } from './support/command-line.js';

const USAGE = `Usage: npm run move -- <postgres://user:password@host:port/database>

Copies the embedded database to an empty one on PostgreSQL. Stop the service first. The target can also be set as MOVE_TO,
which other users of the machine do not see. If the command fails, the target stays empty. The source stays as it is.`;

const { positionals } = parseCommandLine(USAGE, { allowPositionals: true });
const [target = process.env['MOVE_TO'], ...more] = positionals;
if (target === undefined || target === '' || more.length > 0) rejectUsage(USAGE);

// Loaded after the flags are parsed, so that `--help` is fast.
const { moveDatabase } = await import('./support/move-database.js');
const { runCommand } = await import('./support/run-command.js');

await runCommand(({ store }) => moveDatabase(store, target));
