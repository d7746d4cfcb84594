import { loadConfig } from '../config/load-config.js';
import { migrate } from '../database/migrate.js';

/** Brings the schema of the configured database up to date; for deployments with `MIGRATE=off`. */
const ran = await migrate(loadConfig(process.env));
console.log(ran.length > 0 ? `Migrations run: ${ran.join(', ')}` : 'The schema is up to date');
