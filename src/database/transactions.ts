import type { EntityManager, QueryRunner } from 'typeorm';
import type { CheckedRunner } from './checked-runner.js';
import type { Parameters } from './parameters.js';
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

/** Writes something in every unit of work, right before its commit. It may run again after a collision. */
type BeforeCommit = () => Promise<void>;

/** Transactions that run again after a collision, and that repositories, managers and `Queries` take part in. */
export abstract class Transactions {
  private readonly beforeCommits: BeforeCommit[] = [];

  constructor(protected readonly source: ServiceDataSource) {}

  /** Has something written in every unit of work, with it or not at all. Called where the work was begun. */
  beforeCommit(hook: BeforeCommit): void {
    this.beforeCommits.push(hook);
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
    if (this.source.unit) return this.run(() => this.executeInOrder(statement, following));
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
      await this.source.within(end, async () => {
        await ends.atEnd(value);
        for (const hook of this.beforeCommits) await hook();
      });
      await runner.commitTransaction();
      unit.reportCommit();
      end.reportCommit();
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
    runner: QueryRunner,
    sql: string,
    parameters: Parameters,
  ): Promise<Row[]>;
}
