import '../require-node.js';
import type { Database as DatabaseType } from '../database/database.js';
import { parseCommandLine } from './support/command-line.js';
import { countOf } from './support/progress.js';

const USAGE = `Usage: npm run verify [-- --repair]

Counts the rows of every table, and compares the stored totals with the posts. --repair corrects the totals.`;

const { values } = parseCommandLine(USAGE, { options: { repair: { type: 'boolean', default: false } } });

// Loaded after the flags are parsed, so that `--help` is fast.
const { findTotalFaults, rebuildTotals } = await import('../posts/post-totals.js');
const { Database } = await import('../database/database.js');
const { runDatabaseCommand } = await import('./support/run-command.js');

await runDatabaseCommand((context) => verifyRows(context.get(Database)), {
  access: values.repair ? 'write' : 'read',
});

async function verifyRows(database: DatabaseType): Promise<number> {
  const { queries } = database;
  for (const { name } of await queries.search<{ name: string }>(queries.dialect.tables)) {
    const [row] = await queries.search<{ count: number }>(`SELECT count(*) AS count FROM "${name}"`);
    console.log(`${name}: ${countOf(row!.count, 'row')}`);
  }
  const faults = await findTotalFaults(queries);
  for (const { scope, counted, kept } of faults) console.log(`${scope}: stored ${kept}, counted ${counted}`);
  if (faults.length === 0) {
    console.log('All totals are correct');
    return 0;
  }
  if (!values.repair) {
    console.log('Run the command with --repair to correct them');
    return 1;
  }
  await rebuildTotals(database);
  console.log('The totals were corrected');
  return 0;
}
