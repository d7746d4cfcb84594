import { parseArgs } from 'node:util';
import { findTotalFaults, rebuildTotals } from '../posts/post-totals.js';
import { runDatabaseCommand } from './support/run-command.js';

/** `npm run verify [-- --repair]`: holds what the database keeps for speed against the posts themselves. */
await runDatabaseCommand(async (database) => {
  const { values } = parseArgs({ options: { repair: { type: 'boolean', default: false } } });
  const faults = await findTotalFaults(database.queries);
  for (const { scope, counted, kept } of faults) console.log(`${scope}: ${kept} kept, ${counted} counted`);
  if (faults.length === 0) {
    console.log('All totals are right');
    return 0;
  }
  if (!values.repair) {
    console.log('Run it with --repair to count anew');
    return 1;
  }
  await rebuildTotals(database);
  console.log('Counted anew');
  return 0;
});
