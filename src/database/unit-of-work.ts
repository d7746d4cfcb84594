import type { EntityManager, QueryRunner } from 'typeorm';

/**
 * A unit of work that is under way, for the calls within it to join. All of it happens or none: what has
 * failed within it is what it ends with, though the work may have caught that and gone on.
 */
export class UnitOfWork {
  private readonly parts = new Set<Promise<unknown>>();
  private lent: QueryRunner | undefined;
  private failure: { readonly error: unknown } | undefined;
  private isOver = false;

  /** @param open begins the transaction, unless that has happened */
  constructor(private readonly open: () => Promise<EntityManager>) {}

  /** Whether calls are still part of it. */
  get isUnderWay(): boolean {
    return !this.isOver;
  }

  /** The connection of the transaction, for what reads; `undefined` where that has not begun. */
  get queryRunner(): QueryRunner | undefined {
    return this.isOver ? undefined : this.lent;
  }

  /** Does the work, and ends with it and all that has joined it by then. */
  async complete<T>(work: () => Promise<T>): Promise<T> {
    try {
      const value = await work();
      await this.settle();
      if (this.failure) throw this.failure.error;
      return value;
    } finally {
      await this.settle();
      this.isOver = true;
    }
  }

  join<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.part(async () => {
      const manager = await this.open();
      this.lent ??= lend(manager.queryRunner!);
      return work(manager);
    });
  }

  /** The manager for the work: its statements are parts of this unit, and refused once that is over. */
  guard(manager: EntityManager): EntityManager {
    const runner = manager.queryRunner!;
    const query: QueryRunner['query'] = (...parameters: [string]) => {
      // On SQLite it would be part of another's transaction.
      if (this.isOver)
        throw new Error('A statement came after the end of the unit of work that it belongs to');
      return this.part(() => runner.query(...parameters));
    };
    const guarded = derive(runner, { query });
    this.lent = lend(guarded);
    return manager.dataSource.createEntityManager(guarded);
  }

  private async settle(): Promise<void> {
    while (this.parts.size > 0) await Promise.allSettled(this.parts);
  }

  private part<T>(work: () => Promise<T>): Promise<T> {
    const part = work();
    this.parts.add(part);
    part.then(
      () => this.parts.delete(part),
      (error: unknown) => {
        this.failure ??= { error };
        this.parts.delete(part);
      },
    );
    return part;
  }
}

/** Whoever borrows a connection does not give it back to the pool. */
const lend = (runner: QueryRunner): QueryRunner => derive(runner, { release: async () => undefined });

const derive = (runner: QueryRunner, changes: Partial<QueryRunner>): QueryRunner =>
  Object.assign(Object.create(runner) as QueryRunner, changes);
