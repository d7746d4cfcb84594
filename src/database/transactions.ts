import type { EntityManager, QueryRunner } from 'typeorm';
import type { CheckedRunner } from './checked-runner.js';
import type { Parameters } from './parameters.js';
import { retryCollisions } from './retry.js';
import type { ServiceDataSource } from './service-data-source.js';
import { UnitOfWork } from './unit-of-work.js';

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
    if (!unit) return this.executeAlone<Row>(sql, parameters);
    return unit.execute((runner) => this.executeWithin<Row>(runner, sql, parameters));
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
      await this.source.within(new UnitOfWork(runner), () => ends.atEnd(value));
      await runner.commitTransaction();
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

  protected abstract executeAlone<Row>(sql: string, parameters: Parameters): Promise<Row[]>;

  protected abstract executeWithin<Row>(
    runner: QueryRunner,
    sql: string,
    parameters: Parameters,
  ): Promise<Row[]>;
}
