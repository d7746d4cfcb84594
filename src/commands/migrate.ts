import { migrate } from '../database/migrate.js';
import { runCommand } from './support/run-command.js';

/** `npm run migrate`: brings the schema of the configured database up to date; for `MIGRATE=off`. */
await runCommand(async (config) => {
  const ran = await migrate(config);
  console.log(ran.length > 0 ? `Migrations run: ${ran.join(', ')}` : 'The schema is up to date');
  return 0;
});
