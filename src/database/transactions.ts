import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager, QueryRunner } from 'typeorm';
import { isCollision } from './failures.js';
import type { Parameters } from './parameters.js';
import { UnitOfWork } from './unit-of-work.js';

/** How long a write is tried before it is given up, waiting for its turn included, in milliseconds. */
export const DEADLINE = 4000;

/** What a unit of work that begins late does besides, in the same transaction. Both write by `execute`. */
interface Ends<T> {
  /** Before the first write. */
  readonly atBegin: () => Promise<void>;
  /** After the last one, before the commit. */
  readonly atEnd: (value: T) => Promise<void>;
}

/** The only way to write. What it has resolved is on disk, and outlives the process and the power. */
export abstract class Transactions {
  private readonly units = new AsyncLocalStorage<UnitOfWork>();

  /** The connection of the transaction that is under way, if one is; it is not given back by `release`. */
  get queryRunner(): QueryRunner | undefined {
    return this.units.getStore()?.queryRunner;
  }

  /**
   * Runs a unit of work: all of it happens, or none. The work writes through the manager that it is given,
   * and may run more than once when it collides with another, so it does nothing else. Within another unit
   * of work it is a part of that one, which cannot succeed any more if this part fails.
   */
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const outer = this.current();
    return outer ? outer.join(work) : this.begin((manager) => this.within(manager, work));
  }

  /** Runs one writing statement, which is a transaction by itself, and gives its `RETURNING` rows. */
  execute<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    const outer = this.current();
    if (!outer) return this.executeAlone<Row>(sql, parameters);
    return outer.join((manager) => this.executeWithin<Row>(manager, sql, parameters));
  }

  /**
   * Runs a unit of work whose transaction begins with its first `run` or `execute`, so that whatever is slow
   * before that keeps nobody from writing; all that follows, up to the end of the work, belongs to it. Work
   * that writes nothing ends in a transaction with nothing but the ends in it. It may run more than once.
   */
  lazily<T>(work: () => Promise<T>, ends: Ends<T>): Promise<T> {
    return retryCollisions(() => this.attemptLazily(work, ends));
  }

  private async attemptLazily<T>(work: () => Promise<T>, { atBegin, atEnd }: Ends<T>): Promise<T> {
    const opened = Promise.withResolvers<EntityManager>();
    const outcome = Promise.withResolvers<T>();
    // They are told of by `transaction`, which has the first thing that went wrong.
    for (const { promise } of [opened, outcome]) promise.catch(() => undefined);

    let isOpen = false;
    let transaction: Promise<T> | undefined;
    const begin = () => {
      const whole = async (manager: EntityManager) => {
        await atBegin();
        isOpen = true;
        opened.resolve(manager);
        const value = await outcome.promise;
        await atEnd(value);
        return value;
      };
      // Once the work has written, a collision takes it back to its own start.
      const begun = this.begin(
        (manager) => this.within(manager, whole),
        () => !isOpen,
      );
      begun.catch(opened.reject);
      return begun;
    };
    const unit = new UnitOfWork(() => {
      transaction ??= begin();
      return opened.promise;
    });

    try {
      outcome.resolve(await this.during(unit, work));
    } catch (error) {
      if (!transaction) throw error;
      outcome.reject(error);
    }
    return (transaction ??= begin());
  }

  /** The unit that calls belong to. What still works when its unit is over, does so on its own. */
  private current(): UnitOfWork | undefined {
    const unit = this.units.getStore();
    return unit?.isUnderWay ? unit : undefined;
  }

  private within<T>(manager: EntityManager, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const unit: UnitOfWork = new UnitOfWork(async () => guarded);
    const guarded = unit.guard(manager);
    return this.during(unit, () => work(guarded));
  }

  private during<T>(unit: UnitOfWork, work: () => Promise<T>): Promise<T> {
    return this.units.run(unit, () => unit.complete(work));
  }

  /** @param mayRetry asked when the work has collided; if not, the collision is thrown */
  protected abstract begin<T>(
    work: (manager: EntityManager) => Promise<T>,
    mayRetry?: () => boolean,
  ): Promise<T>;

  protected abstract executeAlone<Row>(sql: string, parameters?: Parameters): Promise<Row[]>;

  protected abstract executeWithin<Row>(
    manager: EntityManager,
    sql: string,
    parameters?: Parameters,
  ): Promise<Row[]>;
}

/** Runs it again, until the deadline, when the database says that it lost against a concurrent transaction. */
export async function retryCollisions<T>(
  attempt: () => Promise<T>,
  { start = Date.now(), mayRetry }: { start?: number; mayRetry?: (() => boolean) | undefined } = {},
): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isCollision(error) || mayRetry?.() === false || Date.now() - start > DEADLINE) throw error;
      // At random, lest the same two meet again.
      await sleep(5 + Math.random() * 20);
    }
  }
}
