import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { isCollision } from './failures.js';
import type { Parameters } from './queries.js';
import { UnitOfWork } from './unit-of-work.js';

/** How long a write is tried before it is given up, waiting for its turn included, in milliseconds. */
const DEADLINE = 4000;

/** What a unit of work that begins late does besides, in the same transaction. Both write by `execute`. */
interface Ends<T> {
  /** Before the first write. */
  readonly atBegin: () => Promise<void>;
  /** After the last one, before the commit. */
  readonly atEnd: (value: T) => Promise<void>;
}

/** The only way to write. What it has resolved is on disk, and outlives the process and the power. */
export abstract class Transactions {
  private readonly current = new AsyncLocalStorage<UnitOfWork>();

  /**
   * Runs a unit of work: all of it happens, or none. The work must write through the manager that it is
   * given, and may run more than once when it collides with another, so it does nothing else. Within
   * another unit of work it is a part of that one.
   */
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const outer = this.current.getStore();
    return outer ? outer.join().then(work) : this.begin((manager) => this.within(manager, work));
  }

  /** Runs one writing statement, which is a transaction by itself, and gives its `RETURNING` rows. */
  execute<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    const outer = this.current.getStore();
    if (!outer) return this.executeAlone<Row>(sql, parameters);
    return outer.join().then((manager) => this.executeWithin<Row>(manager, sql, parameters));
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
      outcome.resolve(await this.current.run(unit, work));
    } catch (error) {
      if (!transaction) throw error;
      outcome.reject(error);
    } finally {
      unit.end();
    }
    return (transaction ??= begin());
  }

  private async within<T>(manager: EntityManager, work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const unit = new UnitOfWork(async () => manager);
    try {
      return await this.current.run(unit, () => work(manager));
    } finally {
      unit.end();
    }
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
