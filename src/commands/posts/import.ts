import '../../require-node.js';
import { existsSync } from 'node:fs';
import { parseCommandLine, rejectUsage, YES } from '../support/command-line.js';

const USAGE = `Usage: npm run import -- [--yes] <file | ->

Creates posts from a file, or from standard input (-): one JSON object per line, with title, content, status and source.
A post whose source is stored already is skipped. Lines that break a rule are reported, and the others are imported.
--yes creates a new database without a question.`;

const { values, positionals } = parseCommandLine(USAGE, { options: YES, allowPositionals: true });
const [name, ...more] = positionals;
if (name === undefined || more.length > 0) rejectUsage(USAGE);
if (name !== '-' && !existsSync(name)) rejectUsage(`There is no file ${name}`);

// Loaded after the flags are parsed, so that `--help` is fast.
const { importPosts } = await import('./post-import.js');
await importPosts(name, values);
