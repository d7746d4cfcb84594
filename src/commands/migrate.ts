import '../require-node.js';
import { parseCommandLine, YES } from './support/command-line.js';

const { values } = parseCommandLine(
  `Usage: npm run migrate [-- --accept-changed] [--yes]

Brings the schema of the configured database up to date, for MIGRATE=off. --accept-changed accepts migrations that were
changed after they ran, as they are now; it does not run them again. --yes creates a new database without a question.`,
  { options: { 'accept-changed': { type: 'boolean', default: false }, ...YES } },
);

// Loaded after the flags are parsed, so that `--help` is fast.
const { migrate } = await import('../database/migrate.js');
const { runCommand } = await import('./support/run-command.js');
const { nameTarget } = await import('./support/target-database.js');

await runCommand(async (config) => {
  await nameTarget(config.store, values.yes);
  const ran = await migrate(config, { accept: values['accept-changed'] });
  console.log(ran.length > 0 ? `Migrations run: ${ran.join(', ')}` : 'The schema is up to date');
  return 0;
});
