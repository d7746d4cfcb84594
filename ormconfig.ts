import { loadStore } from './dist/config/load-config.js';
import { commandDataSource } from './dist/database/data-source.js';

/** For TypeORM's own commands on what is built: `npm run typeorm -- migration:show`. */
export default commandDataSource({ store: loadStore(process.env) }, ['dist/**/*.entity.js']);
