import '../require-node.js';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { parseCommandLine, rejectUsage } from './support/command-line.js';

parseCommandLine(`Usage: npm run contracts

Generates the committed API contracts from the code: schema.gql, public/openapi.json and examples/client/api.d.ts.`);

const { createApp } = await import('../app.js');
const { loadContractsConfig } = await import('../platform/config/load-config.js');
const { describeApi, REFERENCE_PARTS } = await import('../openapi.js');
const { buildDocument } = await import('../platform/reference/build-document.js');
const { describeSchema } = await import('../platform/graphql/graphql.module.js');

const app = await createApp(loadContractsConfig());
await writeFile('schema.gql', describeSchema(app));
await writeFile(
  'public/openapi.json',
  `${JSON.stringify(await buildDocument(app, describeApi(), REFERENCE_PARTS), null, 2)}\n`,
);
await app.close();

const types = 'public/openapi.json -o examples/client/api.d.ts';
const { status, stderr } = spawnSync('node_modules/.bin/openapi-typescript', types.split(' '), {
  stdio: ['ignore', 'ignore', 'pipe'],
  encoding: 'utf8',
});
if (status !== 0) {
  // The tool adds a stack.
  const faults = stderr.split('\n').filter((line) => /^\s*✘/.test(line));
  rejectUsage(`${faults.length > 0 ? faults.join('\n') : stderr}
public/openapi.json breaks these rules. Add what is missing to the handler of each path, such as
@ApiOperation({ summary: 'List the cats' }), and run "npm run contracts" again.`);
}
