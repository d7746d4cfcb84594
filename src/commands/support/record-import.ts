import type { INestApplicationContext } from '@nestjs/common';
import { AuditLogModule } from '../../audit/audit-log.module.js';
import { AppError } from '../../common/errors/errors.js';
import { checkInput } from '../../common/validation/input.pipe.js';
import { Database } from '../../database/database.js';
import { EventOutbox, EventRecordsModule } from '../../events/index.js';
import { FIRST_USER_ID } from '../../users/user.entity.js';
import { auditCommand } from './audit-command.js';
import { UsageError } from './ask.js';
import { type Candidate, openPostSource } from './post-sources.js';
import { countOf, Progress } from './progress.js';
import { RECORDS, type RecordKind, StoredPost, type StoredRecord } from './records.js';
import { Rejections } from './rejections.js';
import { runCommand, runDatabaseCommand } from './run-command.js';

/** Records in a transaction, and their text in characters. */
const BATCH = { records: 500, characters: 4 * 1024 * 1024 };

/**
 * Imports the lines of `npm run export` into an empty database, with their ids and times. Lines of one kind follow each
 * other, with ascending ids, so that no id can come twice.
 */
class RecordImport {
  private batch: StoredRecord[] = [];
  private characters = 0;
  private kind: RecordKind | undefined;
  private lastId = 0;
  private isStopped = false;
  private readonly users = new Set<number>([FIRST_USER_ID]);
  private readonly stored = new Map<RecordKind, number>();
  private readonly rejections = new Rejections();

  /** @param context is absent if nothing is written */
  constructor(private readonly context?: INestApplicationContext) {}

  async run(name: string): Promise<number> {
    if (this.context) await this.requireEmpty(this.context.get(Database));
    const { size, candidates } = await openPostSource(name);
    const progress = new Progress('records', size);
    process.once('SIGINT', () => (this.isStopped = true));
    try {
      let count = 0;
      for await (const candidate of candidates) {
        await this.take(candidate);
        if (this.batch.length === BATCH.records || this.characters >= BATCH.characters) await this.store();
        progress.show(candidate.position, ++count);
        if (this.isStopped) break;
      }
      await this.store();
    } finally {
      this.summarize(progress.end());
    }
    return this.isStopped ? 130 : this.rejections.any ? 2 : 0;
  }

  private async requireEmpty({ queries }: Database): Promise<void> {
    for (const { table, isForeign } of Object.values(RECORDS)) {
      if ((await queries.all(`SELECT 1 AS found FROM ${table} WHERE ${isForeign} LIMIT 1`)).length > 0)
        throw new UsageError(`--with-ids needs an empty database, and this one has ${table}`);
    }
  }

  private async take({ where, fields, text, fault }: Candidate): Promise<void> {
    try {
      if (fault !== undefined) throw new AppError('VALIDATION_ERROR', fault);
      const { kind } = fields as { kind?: unknown };
      if (typeof kind !== 'string' || !Object.hasOwn(RECORDS, kind))
        throw new AppError('VALIDATION_ERROR', `kind must be one of ${Object.keys(RECORDS).join(', ')}`);
      const rules = RECORDS[kind as RecordKind];
      const prepared = rules.prepare(fields as Record<string, unknown>, text ?? '');
      const record = await checkInput<StoredRecord>(rules.input, prepared);
      await this.begin(kind as RecordKind);
      if (record.id <= this.lastId)
        throw new AppError('VALIDATION_ERROR', 'ids must ascend within the lines of a kind');
      if (record instanceof StoredPost && !this.users.has(record.author_id))
        throw new AppError('VALIDATION_ERROR', 'author_id must be a user of an earlier line');
      this.lastId = record.id;
      if (kind === 'user') this.users.add(record.id);
      this.batch.push(record);
      this.characters += text?.length ?? 0;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.rejections.add(where, error.message);
    }
  }

  /** A batch has one kind. */
  private async begin(kind: RecordKind): Promise<void> {
    if (kind === this.kind) return;
    await this.store();
    if (this.stored.has(kind))
      throw new AppError('VALIDATION_ERROR', 'the lines of a kind must follow each other');
    this.stored.set(kind, 0);
    this.kind = kind;
    this.lastId = 0;
  }

  private async store(): Promise<void> {
    const { batch, kind, context } = this;
    if (batch.length === 0 || kind === undefined) return;
    this.batch = [];
    this.characters = 0;
    if (context) {
      const database = context.get(Database);
      const events = context.get(EventOutbox, { strict: false });
      await database.transactions.run(async () => {
        await RECORDS[kind].insert(database, batch, events);
        await database.transactions.execute(database.queries.dialect.advanceIds(RECORDS[kind].table));
      });
    }
    this.stored.set(kind, this.stored.get(kind)! + batch.length);
  }

  private summarize(seconds: number): void {
    const done = this.context ? 'stored' : 'valid, nothing was written';
    for (const [kind, count] of this.stored) console.log(`${countOf(count, kind)} ${done}`);
    console.log(`${seconds.toFixed(1)} s`);
    this.rejections.summarize();
    if (this.isStopped) console.log('Interrupted: use an empty database to start again');
  }
}

/** @param name a file, or `-` */
export function importRecords(
  name: string,
  { dryRun, yes }: { dryRun: boolean; yes: boolean },
): Promise<void> {
  if (dryRun) return runCommand(() => new RecordImport().run(name));
  return runDatabaseCommand(
    (context) => auditCommand(context, 'import', () => new RecordImport(context).run(name), 'database'),
    { modules: [EventRecordsModule, AuditLogModule], access: 'write', yes },
  );
}
