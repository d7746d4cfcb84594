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
import { POSTS_PATH } from '../../posts/post.view.js';
import { FIRST_USER_ID } from '../../users/user.entity.js';
import { auditCommand } from './audit-command.js';
import { type Candidate, openPostSource } from './post-sources.js';
import { countOf, Progress } from './progress.js';
import { Rejections } from './rejections.js';
import { runCommand, runDatabaseCommand } from './run-command.js';

/** Posts in a transaction, and their text in characters: a batch is one parameter, whose size is limited. */
const BATCH = { posts: 500, characters: 8 * 1024 * 1024 };

/** A line of `npm run export`, which an empty database takes as it is. */
const NOT_A_POST = 'is not a post; --with-ids imports users and orders, too';

/** How many names of files are printed. */
const NAMED = 5;

interface ImportOptions {
  /** How many files or lines to skip. */
  readonly skip: number;
  /** Whether to change posts that were imported before. */
  readonly update: boolean;
  /** Whether to check the source only, and write nothing. */
  readonly dryRun: boolean;
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
  private readonly rejections = new Rejections();
  private readonly clock: Clock;

  /** @param context is absent if nothing is written */
  constructor(
    private readonly context: INestApplicationContext | undefined,
    private readonly skip: number,
    private readonly update: boolean,
  ) {
    this.done = skip;
    this.clock = context?.get(Clock) ?? new Clock();
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
    return this.stopped ? 130 : this.rejections.any ? 2 : 0;
  }

  private async take({ where, fields, fault, source, unknown = [] }: Candidate): Promise<void> {
    try {
      if (fault !== undefined) throw new AppError('VALIDATION_ERROR', fault);
      const { kind } = fields as { kind?: unknown };
      if (kind === 'user' || kind === 'order') throw new AppError('VALIDATION_ERROR', NOT_A_POST);
      const input = await checkInput(CreatePostInput, fields as object);
      const createdAt = this.clock.now();
      this.batch.push(Object.assign(input, { authorId: FIRST_USER_ID, createdAt, source }));
      for (const member of unknown) this.unknown.set(member, (this.unknown.get(member) ?? 0) + 1);
      this.characters += input.title.length + input.content.length;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.rejections.add(where, error.message);
    }
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
    if (!this.context) {
      this.stored += batch.length;
      return;
    }
    const database = this.context.get(Database);
    const events = this.context.get(EventOutbox, { strict: false });
    const [changed, stored] = await database.transactions.run(async () => [
      this.update ? await updatePosts(database, batch, events) : 0,
      await insertPosts(database, batch, events),
    ]);
    this.changed += changed;
    this.stored += stored;
    this.known += batch.length - stored - changed;
  }

  private summarize(seconds: number, skipped: readonly string[]): void {
    const done = this.context ? 'stored' : 'valid, nothing was written,';
    console.log(`${countOf(this.stored, 'post')} ${done} in ${seconds.toFixed(1)} s`);
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
    this.rejections.summarize();
    if (this.stopped) console.log(`Interrupted; continue with --skip ${this.done}`);
  }
}

/** @param name a folder, a file, or `-` */
export function importPosts(name: string, { skip, update, dryRun, yes }: ImportOptions): Promise<void> {
  if (dryRun) return runCommand(() => new Import(undefined, skip, update).run(name));
  return runDatabaseCommand(
    (context) =>
      auditCommand(context, 'import', () => new Import(context, skip, update).run(name), POSTS_PATH),
    { modules: [EventRecordsModule, AuditLogModule], access: 'write', yes },
  );
}
