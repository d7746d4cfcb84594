import '../require-node.js';
import { existsSync } from 'node:fs';
import { parseCommandLine, parseNumber, rejectUsage, YES } from './support/command-line.js';

const USAGE = `Usage: npm run import -- [options] <folder of Markdown files | NDJSON file | CSV file | ->

  --update    changes posts of the same folder that were imported before and differ from their files
  --skip N    skips the first N files or lines, to continue after an interruption
  --with-ids  reads users, posts and orders of "npm run export", with their ids, into an empty database
  --dry-run   checks the source, not the database, and writes nothing
  --yes       creates a new database without a question

docs/import.md describes the formats.`;

const { values, positionals } = parseCommandLine(USAGE, {
  options: {
    skip: { type: 'string', default: '0' },
    update: { type: 'boolean', default: false },
    'with-ids': { type: 'boolean', default: false },
    'dry-run': { type: 'boolean', default: false },
    ...YES,
  },
  allowPositionals: true,
});
const [name, ...more] = positionals;
if (name === undefined || more.length > 0) rejectUsage(USAGE);
if (name !== '-' && !existsSync(name)) rejectUsage(`There is no file or folder ${name}`);
const skip = parseNumber('--skip', values.skip, 0);
const { update, yes, 'with-ids': withIds, 'dry-run': dryRun } = values;
if (withIds && (update || skip > 0))
  rejectUsage('--with-ids needs an empty database, without --update and --skip');

// Loaded after the flags are parsed, so that `--help` is fast.
if (withIds) {
  const { importRecords } = await import('./support/record-import.js');
  await importRecords(name, { dryRun, yes });
} else {
  const { importPosts } = await import('./support/post-import.js');
  await importPosts(name, { skip, update, dryRun, yes });
}
