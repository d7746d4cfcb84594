import type { EntityManager } from 'typeorm';
import type { CheckedRunner } from './checked-runner.js';
import { type Companion, isWrite } from './companion.js';
import type { Parameters } from './parameters.js';
import { currentReadScope } from './read-scope.js';
import { retryCollisions } from './retry.js';
import type { ServiceDataSource } from './service-data-source.js';
import { UnitOfWork } from './unit-of-work.js';

/** A statement with the values of its placeholders. */
export interface Statement {
  readonly sql: string;
  readonly parameters: Parameters;
}

/** What a unit of work that begins late does besides, in the same transaction. */
interface Ends<T> {
  /** Before the first write. */
  readonly atBegin: () => Promise<void>;
  /** After the last one, before the commit. */
  readonly atEnd: (value: T) => Promise<void>;
}

const NOTHING: Ends<unknown> = { atBegin: async () => undefined, atEnd: async () => undefined };

/** Transactions that run again after a collision, and that repositories, managers and `Queries` take part in. */
export abstract class Transactions {
  constructor(protected readonly source: ServiceDataSource) {}

  /** Has something written with every change, in whatever way that is made, or not at all. */
  accompany(companion: Companion): void {
    this.source.companions.push(companion);
  }

  /** Names what the unit of work under way changes, by the path of the resource: `/v1/posts/7`. */
  about(subject: string): void {
    this.source.unit?.about(subject);
  }

  /** Whether something is to be written with a change that is made here, so that it takes a unit of work. */
  get isAccompanied(): boolean {
    return this.source.isAccompanied;
  }

  /**
   * Runs a unit of work: all of it happens, or none. It may run more than once when it collides with another,
   * so it does nothing but read and write. Within another unit of work it is a part of that one, which cannot
   * succeed any more if this part fails; for a part that may fail alone there is `dataSource.transaction`.
   */
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const { unit } = this.source;
    const manager = () => this.source.createQueryRunner().manager;
    if (unit) return unit.join(() => work(manager()));
    return retryCollisions(() =>
      this.attempt(async (begin) => {
        await begin();
        return work(manager());
      }, NOTHING),
    );
  }

  /** Runs one writing statement, which is a transaction by itself, and returns its `RETURNING` rows. */
  execute<Row>(sql: string, parameters: Parameters = {}): Promise<Row[]> {
    const { unit } = this.source;
    if (!unit) {
      if (this.isAccompanied && isWrite(sql)) return this.run(() => this.execute<Row>(sql, parameters));
      currentReadScope()?.markWritten();
      return this.executeAlone<Row>(sql, parameters).catch((error: unknown) => {
        this.source.storage.note(error);
        throw error;
      });
    }
    return unit.execute((runner) => this.executeWithin<Row>(runner, sql, parameters));
  }

  /**
   * Runs a writing statement, and one that follows from its rows, as one transaction.
   *
   * @param following `undefined` where nothing follows
   * @returns the rows of the first
   */
  executeBoth<Row>(
    statement: Statement,
    following: (rows: readonly Row[]) => Statement | undefined,
  ): Promise<Row[]> {
    if (this.isUnderWay || this.isAccompanied)
      return this.run(() => this.executeInOrder(statement, following));
    return this.executeBothAlone(statement, following);
  }

  /** Calls back after the commit of the unit of work that is under way, or at once where none is. */
  onCommit(callback: () => void): void {
    const { unit } = this.source;
    if (unit) unit.onCommit(callback);
    else callback();
  }

  /** Whether a unit of work is under way. */
  get isUnderWay(): boolean {
    return this.source.unit !== undefined;
  }

  /**
   * Runs a unit of work whose transaction begins with its first write, so that whatever is slow before that
   * keeps nobody from writing; all that follows, up to the end of the work, belongs to it. Work that writes
   * nothing ends in a transaction with nothing but the ends in it. It may run more than once.
   */
  lazily<T>(work: () => Promise<T>, ends: Ends<T>): Promise<T> {
    return retryCollisions(() => this.attempt(work, ends));
  }

  private async attempt<T>(work: (begin: () => Promise<void>) => Promise<T>, ends: Ends<T>): Promise<T> {
    const runner = this.source.createOwnQueryRunner();
    let begun: Promise<void> | undefined;
    // A collision at the beginning is no reason to do again what came before it.
    const begin = () => (begun ??= retryCollisions(() => this.begin(runner, ends)));
    const unit = new UnitOfWork(runner, begin);
    try {
      const value = await this.source.within(unit, () => work(() => unit.open()));
      await begin();
      const end = new UnitOfWork(runner);
      await this.source.within(end, () => ends.atEnd(value));
      const onCommitted = await this.source.accompany(runner, unit.subjects);
      await runner.commitTransaction();
      unit.reportCommit();
      end.reportCommit();
      onCommitted();
      return value;
    } catch (error) {
      // One that is still beginning would hold the connection.
      const failure = await begun?.then(
        () => error,
        (cause: unknown) => cause,
      );
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw failure ?? error;
    } finally {
      await runner.release();
    }
  }

  private async begin(runner: CheckedRunner, { atBegin }: Ends<never>): Promise<void> {
    try {
      await runner.startTransaction();
      await this.source.within(new UnitOfWork(runner), atBegin);
    } catch (error) {
      if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
      throw error;
    }
  }

  protected executeBothAlone<Row>(
    statement: Statement,
    following: (rows: readonly Row[]) => Statement | undefined,
  ): Promise<Row[]> {
    return this.run(() => this.executeInOrder(statement, following));
  }

  private async executeInOrder<Row>(
    { sql, parameters }: Statement,
    following: (rows: readonly Row[]) => Statement | undefined,
  ): Promise<Row[]> {
    const rows = await this.execute<Row>(sql, parameters);
    const next = following(rows);
    if (next) await this.execute(next.sql, next.parameters);
    return rows;
  }

  protected abstract executeAlone<Row>(sql: string, parameters: Parameters): Promise<Row[]>;

  protected abstract executeWithin<Row>(
    runner: CheckedRunner,
    sql: string,
    parameters: Parameters,
  ): Promise<Row[]>;
}
