import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EntityManager } from 'typeorm';
import { isCollision } from './failures.js';
import type { Parameters } from './queries.js';

/** How long a write is tried before it is given up, waiting for its turn included, in milliseconds. */
const DEADLINE = 4000;

/** The only way to write. What it has resolved is on disk, and outlives the process and the power. */
export abstract class Transactions {
  private readonly current = new AsyncLocalStorage<EntityManager>();

  /**
   * Runs a unit of work: all of it happens, or none. The work must write through the manager that it is
   * given, and may run more than once when it collides with another, so it does nothing else. Within
   * another unit of work it is a part of that one.
   */
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    const outer = this.current.getStore();
    if (outer) return work(outer);
    return this.begin((manager) => this.current.run(manager, () => work(manager)));
  }

  /** Runs one writing statement, which is a transaction by itself, and gives its `RETURNING` rows. */
  execute<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    const outer = this.current.getStore();
    return outer ? this.executeWithin<Row>(outer, sql, parameters) : this.executeAlone<Row>(sql, parameters);
  }

  protected abstract begin<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;

  protected abstract executeAlone<Row>(sql: string, parameters?: Parameters): Promise<Row[]>;

  protected abstract executeWithin<Row>(
    manager: EntityManager,
    sql: string,
    parameters?: Parameters,
  ): Promise<Row[]>;
}

/** Runs it again, until the deadline, when the database says that it lost against a concurrent transaction. */
export async function retryCollisions<T>(attempt: () => Promise<T>, start = Date.now()): Promise<T> {
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isCollision(error) || Date.now() - start > DEADLINE) throw error;
      // At random, lest the same two meet again.
      await sleep(5 + Math.random() * 20);
    }
  }
}
