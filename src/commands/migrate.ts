import '../require-node.js';
import { parseCommandLine, YES } from './support/command-line.js';

const { values } = parseCommandLine(
  `Usage: npm run migrate [-- --yes]

Brings the schema of the configured database up to date, for MIGRATE=off. --yes creates a new database without a question.`,
  { options: YES },
);

// Loaded after the flags are parsed, so that `--help` is fast.
const { migrate } = await import('../platform/database/migrate.js');
const { runCommand } = await import('./support/run-command.js');
const { nameTarget } = await import('./support/target-database.js');

await runCommand(async (config) => {
  await nameTarget(config.store, values.yes);
  const ran = await migrate(config);
  console.log(ran.length > 0 ? `Migrations run: ${ran.join(', ')}` : 'The schema is up to date');
  return 0;
});
