import '../require-node.js';
import { parseCommandLine } from './support/command-line.js';

const USAGE = `Usage: npm run import -- [--update] [--skip N] <folder of Markdown files | NDJSON file | ->

  --update  changes posts of the same folder that were imported before and differ from their files
  --skip N  skips the first N files or lines, to continue after an interruption

docs/import.md describes the formats.`;

const { values, positionals } = parseCommandLine(USAGE, {
  options: { skip: { type: 'string', default: '0' }, update: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [name, ...more] = positionals;
const skip = Number(values.skip);
const isValid = name !== undefined && more.length === 0 && Number.isSafeInteger(skip) && skip >= 0;

if (isValid) {
  // Loaded after the flags are parsed, so that `--help` is fast.
  const { importPosts } = await import('./support/post-import.js');
  await importPosts(name, skip, values.update);
} else {
  console.error(USAGE);
  process.exitCode = 1;
}
