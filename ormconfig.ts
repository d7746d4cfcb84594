import { loadConfig } from './src/config/load-config.js';
import { commandDataSource } from './src/database/data-source.js';

/** For TypeORM's own commands, such as `typeorm migration:show -d ormconfig.ts`. */
export default commandDataSource(loadConfig(process.env), ['dist/**/*.entity.js']);
