import '../require-node.js';
import { existsSync } from 'node:fs';
import { parseCommandLine, parseNumber, rejectUsage, YES } from './support/command-line.js';

const USAGE = `Usage: npm run import -- [--update] [--skip N] [--yes] <folder of Markdown files | NDJSON file | ->

  --update  changes posts of the same folder that were imported before and differ from their files
  --skip N  skips the first N files or lines, to continue after an interruption
  --yes     creates a new database without a question

docs/import.md describes the formats.`;

const { values, positionals } = parseCommandLine(USAGE, {
  options: { skip: { type: 'string', default: '0' }, update: { type: 'boolean', default: false }, ...YES },
  allowPositionals: true,
});
const [name, ...more] = positionals;
if (name === undefined || more.length > 0) rejectUsage(USAGE);
if (name !== '-' && !existsSync(name)) rejectUsage(`There is no file or folder ${name}`);
const skip = parseNumber('--skip', values.skip, 0);

// Loaded after the flags are parsed, so that `--help` is fast.
const { importPosts } = await import('./support/post-import.js');
await importPosts(name, { skip, update: values.update, yes: values.yes });
