import { createReadStream } from 'node:fs';
import { glob, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parse as parseYaml } from 'yaml';
import { UsageError } from './run-command.js';

/** Something that may become a post: where it stands, and what stands there; or why it cannot be read. */
export interface Candidate {
  /** A file, or `line N`. */
  readonly where: string;
  readonly fields?: unknown;
  readonly fault?: string;
  /** How much of the source has been read with it, in the unit of {@link PostSource.size}. */
  readonly position: number;
}

export interface PostSource {
  /** Files, or bytes; unknown for standard input. */
  readonly size?: number;
  readonly candidates: AsyncIterable<Candidate>;
}

/** @param name a folder of Markdown files, a file of JSON objects one a line (NDJSON), or `-` for such lines on standard input */
export async function openPostSource(name: string): Promise<PostSource> {
  if (name === '-') return { candidates: readLines(process.stdin) };
  const found = await stat(name).catch(() => undefined);
  if (!found) throw new UsageError(`There is no file or folder ${name}`);
  if (found.isFile()) return { size: found.size, candidates: readLines(createReadStream(name)) };

  const files: string[] = [];
  for await (const file of glob('**/*.{md,markdown}', { cwd: name })) files.push(file);
  return { size: files.length, candidates: readMarkdownFiles(name, files.toSorted()) };
}

async function* readLines(input: NodeJS.ReadableStream): AsyncIterable<Candidate> {
  let line = 0;
  let position = 0;
  for await (const text of createInterface({ input, crlfDelay: Infinity })) {
    line++;
    position += Buffer.byteLength(text) + 1;
    if (text.trim() === '') continue;
    const where = `line ${line}`;
    try {
      yield { where, position, fields: JSON.parse(text) };
    } catch {
      yield { where, position, fault: 'is not JSON' };
    }
  }
}

async function* readMarkdownFiles(folder: string, files: readonly string[]): AsyncIterable<Candidate> {
  for (const [index, where] of files.entries()) {
    const position = index + 1;
    try {
      yield { where, position, fields: postOfMarkdown(await readFile(join(folder, where), 'utf8')) };
    } catch (error) {
      yield { where, position, fault: (error as Error).message.split('\n', 1)[0]! };
    }
  }
}

const FRONT_MATTER = /^\uFEFF?---\r?\n(?<yaml>[^]*?)^---[ \t]*(?:\r?\n|$)/m;
const FIRST_HEADING = /^#{1,6}[ \t]+(?<title>.+?)[ \t]*#*[ \t]*$/m;

/** Title and status from the front matter, the title else from the first heading; the rest is the content. */
function postOfMarkdown(text: string): Record<string, unknown> {
  const matter = FRONT_MATTER.exec(text);
  const content = (matter?.index === 0 ? text.slice(matter[0].length) : text).trim();
  const fields = matter?.index === 0 ? (parseYaml(matter.groups!['yaml']!) ?? {}) : {};
  const heading = FIRST_HEADING.exec(content)?.groups!['title'];
  return { title: fields.title ?? heading, status: fields.status, content };
}
