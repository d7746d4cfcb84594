// Prints the schema of the build, as `npm run contracts` writes it.
import { createApp } from '../../dist/app.js';
import { loadContractsConfig } from '../../dist/platform/config/load-config.js';
import { describeSchema } from '../../dist/platform/graphql/graphql.module.js';

const app = await createApp(loadContractsConfig());
process.stdout.write(describeSchema(app));
await app.close();
