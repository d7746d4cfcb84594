import { parseArgs } from 'node:util';
import { retryCollisions } from '../database/retry.js';
import { findTotalFaults, rebuildTotals } from '../posts/post-totals.js';
import { runDatabaseCommand } from './support/run-command.js';

/** `npm run verify [-- --repair]`: holds what the database keeps for speed against the posts themselves. */
await runDatabaseCommand(async (source) => {
  const { values } = parseArgs({ options: { repair: { type: 'boolean', default: false } } });
  const faults = await findTotalFaults(source.manager);
  for (const { scope, counted, kept } of faults) console.log(`${scope}: ${kept} kept, ${counted} counted`);
  if (faults.length === 0) {
    console.log('All totals are right');
    return 0;
  }
  if (!values.repair) {
    console.log('Run it with --repair to count anew');
    return 1;
  }
  await retryCollisions(() => source.transaction(rebuildTotals));
  console.log('Counted anew');
  return 0;
});
