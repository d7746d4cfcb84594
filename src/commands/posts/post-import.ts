import { isUtf8 } from 'node:buffer';
import { createReadStream, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { AppError } from '../../platform/http/errors/errors.js';
import { Clock } from '../../platform/jobs/clock.js';
import { Optional } from '../../platform/http/validation/fields.js';
import { checkInput } from '../../platform/http/validation/input.pipe.js';
import { Text } from '../../platform/http/validation/text.js';
import { Database } from '../../platform/database/database.js';
import { Changes } from '../../platform/changes/index.js';
import { insertPosts, type NewPost } from '../../posts/post-batch.js';
import { CreatePostInput } from '../../posts/post.input.js';
import { POSTS_PATH } from '../../posts/post.view.js';
import { FIRST_USER_ID } from '../../users/user.entity.js';
import { recordAsOperator } from '../support/operator.js';
import { countOf, Progress } from '../support/progress.js';
import { runDatabaseCommand } from '../support/run-command.js';

/** Posts in a transaction, and their text in characters: a batch is one parameter, whose size is limited. */
const BATCH = { posts: 500, characters: 8 * 1024 * 1024 };

class ImportedPost extends CreatePostInput {
  /** Where the post comes from; its index limits the length. */
  @Optional()
  @Text({ min: 1, max: 500 })
  source?: string | null;
}

/** Imports posts from lines of JSON, by the rules of `POST /v1/posts`. What was written before an interruption stays. */
class PostImport {
  private readonly database: Database;
  private readonly changes: Changes;
  private readonly clock: Clock;
  private batch: NewPost[] = [];
  private characters = 0;
  /** The lines that were read, and those of them that are stored or rejected. */
  private lines = 0;
  private done = 0;
  private stored = 0;
  private known = 0;
  private rejected = 0;
  private isStopped = false;

  constructor(context: INestApplicationContext) {
    this.database = context.get(Database);
    this.changes = context.get(Changes, { strict: false });
    this.clock = context.get(Clock);
  }

  async run(name: string): Promise<number> {
    const input = name === '-' ? process.stdin : createReadStream(name);
    const progress = new Progress('posts', name === '-' ? undefined : statSync(name).size);
    process.once('SIGINT', () => (this.isStopped = true));
    let position = 0;
    try {
      for await (const line of splitLines(input)) {
        this.lines++;
        position += line.length + 1;
        await this.take(line);
        if (this.batch.length === BATCH.posts || this.characters >= BATCH.characters) await this.store();
        progress.show(position, this.stored);
        if (this.isStopped) break;
      }
      await this.store();
    } catch (error) {
      this.isStopped = true;
      throw error;
    } finally {
      this.summarize(progress.end());
    }
    return this.isStopped ? 130 : this.rejected > 0 ? 2 : 0;
  }

  private async take(line: Buffer): Promise<void> {
    try {
      const fields = parseLine(line);
      if (fields === undefined) return;
      const { source, ...post } = await checkInput(ImportedPost, fields);
      const createdAt = this.clock.now();
      this.batch.push({ ...post, authorId: FIRST_USER_ID, createdAt, source: source ?? undefined });
      this.characters += post.title.length + post.content.length;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.rejected++;
      console.error(`line ${this.lines}: ${error.message}`);
    }
  }

  /** A batch is stored as a whole or not at all. */
  private async store(): Promise<void> {
    const { batch } = this;
    this.batch = [];
    this.characters = 0;
    if (batch.length > 0) {
      const isFirst = this.stored + this.known === 0;
      const stored = await this.database.transactions.run(async () => {
        if (isFirst) await this.changes.record({ subject: POSTS_PATH });
        return insertPosts(this.database, batch, this.changes);
      });
      this.stored += stored;
      this.known += batch.length - stored;
    }
    this.done = this.lines;
    await sleep(1); // A running service gets its turn to write.
  }

  private summarize(seconds: number): void {
    console.log(`${countOf(this.stored, 'post')} stored in ${seconds.toFixed(1)} s`);
    if (this.known > 0) console.log(`${countOf(this.known, 'post')} already existed`);
    if (this.rejected > 0) console.log(`${countOf(this.rejected, 'line')} rejected`);
    if (this.isStopped) console.log(`Interrupted after line ${this.done}`);
  }
}

/**
 * The object of a line; undefined for a blank line.
 *
 * @throws AppError when it is none
 */
function parseLine(bytes: Buffer): object | undefined {
  if (!isUtf8(bytes)) throw new AppError('VALIDATION_ERROR', 'is not UTF-8');
  // Windows programs write a byte order mark, which is not part of the JSON (RFC 8259, section 8.1).
  const text = bytes.toString().replace(/^\uFEFF/, '');
  if (text.trim() === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError('VALIDATION_ERROR', 'is not JSON');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw new AppError('VALIDATION_ERROR', 'is not a JSON object');
}

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

/** @param name a file, or `-` */
export function importPosts(name: string, { yes }: { readonly yes: boolean }): Promise<void> {
  return runDatabaseCommand(
    (context) => {
      recordAsOperator(context, 'import');
      return new PostImport(context).run(name);
    },
    { access: 'write', yes },
  );
}
