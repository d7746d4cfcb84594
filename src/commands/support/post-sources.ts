import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { Readable } from 'node:stream';
import { parse as parseCsv } from 'csv-parse';
import { parse as parseYaml } from 'yaml';
import { POST_FIELDS } from '../../posts/post.statements.js';

/** The source of a post: its place and its content, or why it cannot be read. */
export interface Candidate {
  /** A file, `line N`, or `row N` of CSV. */
  readonly where: string;
  readonly fields?: unknown;
  /** The line of JSON itself. */
  readonly text?: string;
  readonly fault?: string;
  /** How a later import recognizes it; lines have no such key. */
  readonly source?: string;
  /** Members of the front matter that posts do not have. */
  readonly unknown?: readonly string[];
  /** How much of the source has been read, in the unit of {@link PostSource.size}. */
  readonly position: number;
}

export interface PostSource {
  /** Files, or bytes; unknown for standard input. */
  readonly size?: number;
  /** Files of the folder that are not Markdown. */
  readonly skipped: readonly string[];
  readonly candidates: AsyncIterable<Candidate>;
}

/** @param name a folder of Markdown files, a CSV file, a file of JSON objects one a line (NDJSON), or `-` for such lines on standard input */
export async function openPostSource(name: string): Promise<PostSource> {
  if (name === '-') return { skipped: [], candidates: readLines(process.stdin) };
  const found = await stat(name);
  if (found.isFile() && /\.csv$/i.test(name))
    return { size: found.size, skipped: [], candidates: readCsv(name) };
  if (found.isFile()) return { size: found.size, skipped: [], candidates: readLines(createReadStream(name)) };

  // The real path, so that another name of the same folder gives the same keys.
  const folder = await realpath(name);
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name: file }) => relative(folder, join(parentPath, file)))
    .toSorted();
  const { markdown = [], other = [] } = Object.groupBy(files, (file) =>
    /\.(md|markdown)$/i.test(file) ? 'markdown' : 'other',
  );
  return { size: markdown.length, skipped: other, candidates: readMarkdownFiles(folder, markdown) };
}

async function* readLines(input: AsyncIterable<Buffer>): AsyncIterable<Candidate> {
  let line = 0;
  let position = 0;
  for await (const bytes of splitLines(input)) {
    line++;
    position += bytes.length + 1;
    const where = `line ${line}`;
    // Windows programs write a byte order mark, which is not part of the JSON (RFC 8259, section 8.1).
    const text = bytes.toString().replace(/^\uFEFF/, '');
    if (text.trim() === '') continue;
    if (!isUtf8(bytes)) {
      yield { where, position, fault: NOT_UTF8 };
      continue;
    }
    try {
      const fields: unknown = JSON.parse(text);
      if (isObject(fields)) yield { where, position, fields, text };
      else yield { where, position, fault: 'is not a JSON object' };
    } catch {
      yield { where, position, fault: 'is not JSON' };
    }
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Lines end with LF, or CR LF. Node's own reader also splits at U+2028 and U+2029, which JSON may contain. */
async function* splitLines(input: AsyncIterable<Buffer>): AsyncIterable<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of input) {
    let start = 0;
    for (let end; (end = chunk.indexOf('\n', start)) !== -1; start = end + 1) {
      yield Buffer.concat([...parts, chunk.subarray(start, end)]);
      parts = [];
    }
    parts.push(chunk.subarray(start));
  }
  yield Buffer.concat(parts);
}

/** 2 MiB: more than a post may have, in characters. */
const MAX_ROW = 2 * 1024 * 1024;

/**
 * The first row has the names of the columns (RFC 4180). An empty field counts as absent. A row with another number of
 * fields is skipped; after a quote in the wrong place, nobody knows where a row ends, so the rest is not read.
 */
async function* readCsv(file: string): AsyncIterable<Candidate> {
  // Not the parser's count of lines, which is wrong after a line break in a field.
  let row = 1;
  let position = 0;
  let end: string | undefined;
  const faulty: Candidate[] = [];
  const parser = parseCsv({
    bom: true,
    columns: true,
    max_record_size: MAX_ROW,
    skip_empty_lines: true,
    skip_records_with_error: true,
    on_record: (record: Record<string, string>, { bytes }): Candidate | null =>
      end !== undefined
        ? null
        : {
            where: `row ${++row}`,
            position: (position = bytes),
            fields: Object.fromEntries(Object.entries(record).filter(([, value]) => value !== '')),
          },
    on_skip: (error) => {
      if (end !== undefined) return undefined;
      const fault = `is not CSV: ${error?.message.replace(/ (?:on|at) line \d+/, '')}`;
      if (error?.code !== 'CSV_RECORD_INCONSISTENT_COLUMNS') end = fault;
      else faulty.push({ where: `row ${++row}`, position, fault });
      return undefined;
    },
  });
  const text = Readable.from(decode(createReadStream(file)));
  text.on('error', (error) => parser.destroy(error));
  try {
    for await (const candidate of text.pipe(parser)) {
      yield* faulty.splice(0);
      yield candidate as Candidate;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_ENCODING_INVALID_ENCODED_DATA') throw error;
    end = NOT_UTF8;
  }
  yield* faulty;
  if (end !== undefined)
    yield { where: `row ${row + 1}`, position, fault: `${end}; it and the rows after it were not read` };
}

/** @throws TypeError if it is not UTF-8 */
async function* decode(bytes: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  for await (const chunk of bytes) yield decoder.decode(chunk, { stream: true });
  yield decoder.decode();
}

async function* readMarkdownFiles(folder: string, files: readonly string[]): AsyncIterable<Candidate> {
  for (const [index, where] of files.entries()) {
    const position = index + 1;
    const file = join(folder, where);
    try {
      const bytes = await readFile(file);
      if (isUtf8(bytes))
        yield { where, position, source: `file:${file}`, ...postOfMarkdown(bytes.toString()) };
      else yield { where, position, fault: NOT_UTF8 };
    } catch (error) {
      yield { where, position, fault: (error as Error).message.split('\n', 1)[0]! };
    }
  }
}

const NOT_UTF8 = 'is not UTF-8';

const FRONT_MATTER = /^\uFEFF?---\r?\n(?<yaml>[^]*?)^---[ \t]*(?:\r?\n|$)/m;
const FIRST_HEADING = /^#{1,6}[ \t]+(?<title>.+?)[ \t]*#*[ \t]*$/m;

const IN_FRONT_MATTER = new Set<string>(POST_FIELDS.filter((name) => name !== 'content'));

/** Takes the fields from the front matter, or the title from the first heading; the rest is the content. */
function postOfMarkdown(text: string): Pick<Candidate, 'fields' | 'unknown'> {
  const matter = FRONT_MATTER.exec(text);
  const content = (matter?.index === 0 ? text.slice(matter[0].length) : text).trim();
  const parsed: unknown = matter?.index === 0 ? (parseYaml(matter.groups!['yaml']!) ?? {}) : {};
  if (typeof parsed !== 'object' || Array.isArray(parsed)) throw new Error('has front matter without names');
  const { title, ...others } = parsed as Record<string, unknown>;
  const heading = FIRST_HEADING.exec(content)?.groups!['title'];
  const isKnown = ([name]: [string, unknown]) => IN_FRONT_MATTER.has(name);
  const members = Object.entries(others);
  return {
    fields: { ...Object.fromEntries(members.filter(isKnown)), title: title ?? heading, content },
    unknown: members.filter((member) => !isKnown(member)).map(([name]) => name),
  };
}
