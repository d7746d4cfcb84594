import '../require-node.js';
import { existsSync } from 'node:fs';
import { parseCommandLine, rejectUsage } from './support/command-line.js';

const USAGE = `Usage: npm run export -- [--kinds KINDS] <file | ->

Writes users, posts and orders as NDJSON, one JSON object per line, to a new file or to standard output (-).

  --kinds KINDS  only these, separated by commas: users,posts,orders

docs/import.md describes the lines, and "npm run import -- --with-ids" reads them. It is no backup: accounts, events
and webhooks are not part of it.`;

const { values, positionals } = parseCommandLine(USAGE, {
  options: { kinds: { type: 'string', default: 'users,posts,orders' } },
  allowPositionals: true,
});
const [name, ...more] = positionals;
if (name === undefined || more.length > 0) rejectUsage(USAGE);
if (name !== '-' && existsSync(name)) rejectUsage(`${name} exists already; choose another name`);

// Loaded after the flags are parsed, so that `--help` is fast.
const { exportRecords, isKind, KINDS } = await import('./support/record-export.js');
const kinds = values.kinds.split(',');
const unknown = kinds.find((kind) => !isKind(kind));
if (unknown !== undefined) rejectUsage(`--kinds: ${unknown} is not one of ${KINDS.join(', ')}`);
await exportRecords(
  name,
  KINDS.filter((kind) => kinds.includes(kind)),
);
