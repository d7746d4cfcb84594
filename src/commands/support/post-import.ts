import { setTimeout as sleep } from 'node:timers/promises';
import type { INestApplicationContext } from '@nestjs/common';
import { AuditLogModule } from '../../audit/audit-log.module.js';
import { AppError } from '../../common/errors/errors.js';
import { checkInput } from '../../common/validation/input.pipe.js';
import { Clock } from '../../common/ports/clock.js';
import { Database } from '../../database/database.js';
import { EventOutbox, EventRecordsModule } from '../../events/index.js';
import { insertPosts, type NewPost, updatePosts } from '../../posts/post-batch.js';
import { CreatePostInput } from '../../posts/post.input.js';
import { FIRST_USER_ID } from '../../users/user.entity.js';
import { auditCommand } from './audit-command.js';
import { type Candidate, openPostSource } from './post-sources.js';
import { countOf, Progress } from './progress.js';
import { runDatabaseCommand } from './run-command.js';

/** Posts in a transaction, and their text in characters: a batch is one parameter, whose size is limited. */
const BATCH = { posts: 500, characters: 8 * 1024 * 1024 };

/** How many errors are printed; further ones are only counted. */
const PRINTED = 20;

/** How many names of files are printed. */
const NAMED = 5;

interface ImportOptions {
  /** How many files or lines to skip. */
  readonly skip: number;
  /** Whether to change posts that were imported before. */
  readonly update: boolean;
  /** Whether to create a new database without a question. */
  readonly yes: boolean;
}

/**
 * Imports posts from text, by the rules of `POST /v1/posts`. It may be interrupted: what was written stays, and
 * the summary says how to continue.
 */
class Import {
  private batch: NewPost[] = [];
  private characters = 0;
  private stopped = false;
  private seen = 0;
  /** How many of the sources that were read are done, either stored or rejected. */
  private done: number;
  private stored = 0;
  private changed = 0;
  private known = 0;
  /** How many files have a member in their front matter that posts do not have. */
  private readonly unknown = new Map<string, number>();
  private readonly rejections = new Map<string, number>();
  private readonly database: Database;
  private readonly clock: Clock;
  private readonly events: EventOutbox;

  constructor(
    context: INestApplicationContext,
    private readonly skip: number,
    private readonly update: boolean,
  ) {
    this.done = skip;
    this.database = context.get(Database);
    this.clock = context.get(Clock);
    this.events = context.get(EventOutbox, { strict: false });
  }

  async run(name: string): Promise<number> {
    const { size, skipped, candidates } = await openPostSource(name);
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
      this.summarize(progress.end(), skipped);
    }
    return this.stopped ? 130 : this.rejections.size > 0 ? 2 : 0;
  }

  private async take({ where, fields, fault, source, unknown = [] }: Candidate): Promise<void> {
    try {
      if (fault !== undefined) throw new AppError('VALIDATION_ERROR', fault);
      const input = await checkInput(CreatePostInput, fields as object);
      this.batch.push(Object.assign(input, { authorId: FIRST_USER_ID, createdAt: this.clock.now(), source }));
      for (const member of unknown) this.unknown.set(member, (this.unknown.get(member) ?? 0) + 1);
      this.characters += input.title.length + input.content.length;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.reject(where, error.message);
    }
  }

  private reject(where: string, reason: string): void {
    this.rejections.set(reason, (this.rejections.get(reason) ?? 0) + 1);
    const count = [...this.rejections.values()].reduce((sum, n) => sum + n, 0);
    if (count <= PRINTED) console.error(`${where}: ${reason}`);
    if (count === PRINTED + 1) console.error('… further errors are counted below');
  }

  /** A batch is stored as a whole or not at all. */
  private async store(): Promise<void> {
    const { batch } = this;
    this.batch = [];
    this.characters = 0;
    if (batch.length > 0) await this.write(batch);
    this.done = Math.max(this.done, this.seen);
    await sleep(1); // A running service gets its turn to write.
  }

  private async write(batch: readonly NewPost[]): Promise<void> {
    const [changed, stored] = await this.database.transactions.run(async () => [
      this.update ? await updatePosts(this.database, batch, this.events) : 0,
      await insertPosts(this.database, batch, this.events),
    ]);
    this.changed += changed;
    this.stored += stored;
    this.known += batch.length - stored - changed;
  }

  private summarize(seconds: number, skipped: readonly string[]): void {
    console.log(`${countOf(this.stored, 'post')} stored in ${seconds.toFixed(1)} s`);
    if (this.update) console.log(`${countOf(this.changed, 'post')} changed`);
    if (this.known > 0) {
      const hint = this.update ? '' : ' (--update changes those that differ)';
      console.log(`${countOf(this.known, 'post')} already existed${hint}`);
    }
    for (const [member, count] of this.unknown)
      console.log(
        `${countOf(count, 'file')} with "${member}" in the front matter, which is unknown and was ignored`,
      );
    if (skipped.length > 0) {
      const names = skipped.slice(0, NAMED).join(', ') + (skipped.length > NAMED ? ', …' : '');
      console.log(`${countOf(skipped.length, 'file')} skipped, not Markdown: ${names}`);
    }
    for (const [reason, count] of this.rejections) console.log(`${count} rejected: ${reason}`);
    if (this.stopped) console.log(`Interrupted; continue with --skip ${this.done}`);
  }
}

/** @param name a folder, a file, or `-` */
export function importPosts(name: string, { skip, update, yes }: ImportOptions): Promise<void> {
  return runDatabaseCommand(
    (context) =>
      auditCommand(context, 'import', () => new Import(context, skip, update).run(name), '/v1/posts'),
    { modules: [EventRecordsModule, AuditLogModule], access: 'write', yes },
  );
}
