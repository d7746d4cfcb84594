import { loadStoreConfig } from './dist/config/load-store.js';
import { commandDataSource } from './dist/database/data-source.js';

if (process.argv.some((argument) => argument.startsWith('migration:generate'))) {
  console.log(`
The migration is right for this database alone. To make it right for both, generate it with DATABASE_URL set
(on SQLite it copies whole tables), write its column types as those of columnTypes(runner), like the other
files of src/database/migrations, and put what only one database needs behind isSqlite(runner). The test that
compares entities and migrations on both databases shows what is left: npm test -- test/database
`);
}

/** For TypeORM's own commands on what is built: `npm run typeorm -- migration:show`. */
export default commandDataSource(loadStoreConfig(process.env), ['dist/**/*.entity.js']);
