import '../../../../src/require-node.js';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseCommandLine } from '../../../../src/commands/support/command-line.js';

/** Between two batches, in milliseconds: other writes get their turn. */
const PAUSE = 10;

parseCommandLine(
  'Usage: npm run fill\n\nFills tasks.urgency. Ctrl-C stops it; the next run continues there.',
);

// Loaded after the flags are parsed, so that `--help` is fast.
const { Progress } = await import('../../../../src/commands/support/progress.js');
const { runDatabaseCommand } = await import('../../../../src/commands/support/run-command.js');
const { TaskUrgencyFill } = await import('../fill/fill.module.js');

await runDatabaseCommand(
  async (context) => {
    const stopping = new AbortController();
    process.once('SIGINT', () => stopping.abort());
    const fill = context.get(TaskUrgencyFill, { strict: false });
    const end = await fill.end();
    const progress = new Progress('rows', end);
    for (let position: number | undefined = 0; position < end; await sleep(PAUSE)) {
      position = await fill.next();
      if (position === undefined || stopping.signal.aborted) {
        progress.end();
        console.error(position === undefined ? 'Another process fills the column' : `Stopped at ${position}`);
        return 1;
      }
      progress.show(position);
    }
    console.log(`Filled in ${progress.end().toFixed(1)} s`);
    return 0;
  },
  { access: 'write' },
);
