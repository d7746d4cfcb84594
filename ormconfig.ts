import { readEnvFile } from './dist/platform/config/env-file.js';
import { loadStoreConfig } from './dist/platform/config/store.js';
import { isPostgresOnly } from './dist/platform/config/package.js';
import { commandDataSource } from './dist/platform/database/data-source.js';

readEnvFile(process.env);
const config = loadStoreConfig(process.env);

if (!isPostgresOnly && process.argv.some((argument) => argument.startsWith('migration:generate'))) {
  if (config.store.kind === 'sqlite' && process.env['GENERATE_FOR'] !== 'sqlite') {
    console.error(`On SQLite, TypeORM writes a migration that copies whole tables, and PostgreSQL cannot run it.
Set DATABASE_URL to a PostgreSQL database with the current schema. GENERATE_FOR=sqlite generates it in spite of that.`);
    process.exit(1);
  }
  console.log(`
The migration is right for this database alone. To make it right for both, write its column types as those of
columnTypes(runner), like the other files of src/platform/database/migrations, and put what only one database needs behind
isSqlite(runner). The test that compares entities and migrations on both databases shows what is left:
npm test -- test/database. A service on PostgreSQL alone needs none of that: docs/postgresql-only.md
`);
}

/** For TypeORM's own commands on what is built: `npm run typeorm -- migration:show`. */
export default commandDataSource(config, ['dist/**/*.entity.js']);
