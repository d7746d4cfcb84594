import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { AppError } from '../common/errors/errors.js';
import { checkInput } from '../common/validation/input.pipe.js';
import type { CommandDatabase } from '../database/command-database.js';
import { insertPosts, type NewPost } from '../posts/post-batch.js';
import { CreatePostInput } from '../posts/post.input.js';
import { type Candidate, openPostSource } from './support/post-sources.js';
import { Progress } from './support/progress.js';
import { runDatabaseCommand, UsageError } from './support/run-command.js';

/** Posts to a transaction; and their text, in characters: a batch is one parameter, which has a limit. */
const BATCH = { posts: 500, characters: 8 * 1024 * 1024 };

/** Refusals that are printed as they come; after that they are only counted. */
const PRINTED = 20;

const USAGE = `Usage: npm run import -- [--skip N] <folder of Markdown files | NDJSON file | ->`;

/**
 * Posts from real text, by the rules of `POST /v1/posts`. It may be interrupted: what was written stays, and
 * the summary says how to go on.
 */
class Import {
  private batch: NewPost[] = [];
  private characters = 0;
  private stopped = false;
  private seen = 0;
  /** How many of those seen are dealt with for good, be it stored or refused. */
  private done: number;
  private stored = 0;
  private readonly refusals = new Map<string, number>();

  constructor(
    private readonly database: CommandDatabase,
    private readonly skip: number,
  ) {
    this.done = skip;
  }

  async run(name: string): Promise<number> {
    const { size, candidates } = await openPostSource(name);
    const progress = new Progress('posts', size);
    process.once('SIGINT', () => (this.stopped = true));

    try {
      for await (const candidate of candidates) {
        if (++this.seen <= this.skip) continue;
        await this.take(candidate);
        if (this.batch.length === BATCH.posts || this.characters >= BATCH.characters) await this.store();
        progress.show(candidate.position, this.stored);
        if (this.stopped) break;
      }
      await this.store();
    } catch (error) {
      this.stopped = true;
      throw error;
    } finally {
      this.summarize(progress.end());
    }
    return this.stopped ? 130 : this.refusals.size > 0 ? 2 : 0;
  }

  private async take({ where, fields, fault }: Candidate): Promise<void> {
    try {
      if (fault !== undefined) throw new AppError('VALIDATION_ERROR', fault);
      const { title, content, status } = await checkInput(CreatePostInput, fields as object);
      this.batch.push({ title, content, status: status || 'draft', authorId: 1, createdAt: new Date() });
      this.characters += title.length + content.length;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.refuse(where, error.message);
    }
  }

  private refuse(where: string, reason: string): void {
    this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1);
    const count = [...this.refusals.values()].reduce((sum, n) => sum + n, 0);
    if (count <= PRINTED) console.error(`${where}: ${reason}`);
    if (count === PRINTED + 1) console.error('… further refusals are counted below');
  }

  /** A batch is in the database whole, or not at all. */
  private async store(): Promise<void> {
    const { batch } = this;
    this.batch = [];
    this.characters = 0;
    if (batch.length > 0) await insertPosts(this.database, batch);
    this.stored += batch.length;
    this.done = Math.max(this.done, this.seen);
    await sleep(1); // A running service gets its turn to write.
  }

  private summarize(seconds: number): void {
    console.log(`${this.stored.toLocaleString('en')} posts stored in ${seconds.toFixed(1)} s`);
    for (const [reason, count] of this.refusals) console.log(`${count} refused: ${reason}`);
    if (this.stopped) console.log(`Interrupted; go on with --skip ${this.done}`);
  }
}

await runDatabaseCommand(async (database) => {
  const { values, positionals } = parseArgs({
    options: { skip: { type: 'string', default: '0' } },
    allowPositionals: true,
  });
  const [name, ...more] = positionals;
  const skip = Number(values.skip);
  if (name === undefined || more.length > 0 || !Number.isSafeInteger(skip)) throw new UsageError(USAGE);
  return new Import(database, skip).run(name);
});
