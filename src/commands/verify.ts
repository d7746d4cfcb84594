import '../require-node.js';
import { parseCommandLine } from './support/command-line.js';

const { values } = parseCommandLine(
  `Usage: npm run verify [-- --repair]

Counts the rows of every table, and compares the stored totals with the posts. --repair corrects the totals.`,
  { options: { repair: { type: 'boolean', default: false } } },
);

// Loaded after the flags are parsed, so that `--help` is fast.
const { findTotalFaults, rebuildTotals } = await import('../posts/post-totals.js');
const { countRows } = await import('../database/count-rows.js');
const { runDatabaseCommand } = await import('./support/run-command.js');

await runDatabaseCommand(async (database) => {
  for (const { name, count } of await countRows(database.queries)) {
    console.log(`${name}: ${count.toLocaleString('en')} rows`);
  }
  const faults = await findTotalFaults(database.queries);
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
});
