import '../require-node.js';
import type { Database as DatabaseType } from '../database/database.js';
import { parseCommandLine } from './support/command-line.js';
import { countOf } from './support/progress.js';

const USAGE = `Usage: npm run verify [-- --repair]
       npm run verify -- <file>

Counts the rows of every table, and compares the stored totals with the posts. --repair corrects the totals.

With the file of a backup, compares it with its checksum and checks its structure, and changes nothing.`;

const { values, positionals } = parseCommandLine(USAGE, {
  options: { repair: { type: 'boolean', default: false } },
  allowPositionals: true,
});

// Loaded after the flags are parsed, so that `--help` is fast.
const { findTotalFaults, rebuildTotals } = await import('../posts/post-totals.js');
const { Database } = await import('../database/database.js');
const { verifyBackup } = await import('../database/sqlite/backup.js');
const { runCommand, runDatabaseCommand, UsageError } = await import('./support/run-command.js');

await (positionals.length > 0
  ? runCommand(verifyFile)
  : runDatabaseCommand((context) => verifyRows(context.get(Database)), {
      access: values.repair ? 'write' : 'read',
    }));

async function verifyFile(): Promise<number> {
  const [file = '', ...more] = positionals;
  if (more.length > 0 || values.repair) throw new UsageError(USAGE);
  const hasChecksum = await verifyBackup(file);
  console.log(
    hasChecksum
      ? `${file} is exactly the backup that was made`
      : `${file} is a complete database without a checksum: changed values would go unnoticed`,
  );
  return 0;
}

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
