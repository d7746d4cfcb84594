import type { EntityManager } from 'typeorm';

/** A unit of work that is under way, for the calls within it to join. */
export class UnitOfWork {
  private isOver = false;

  constructor(private readonly open: () => Promise<EntityManager>) {}

  /** @throws Error when it is over: the write would be part of another's transaction, or of none */
  async join(): Promise<EntityManager> {
    if (this.isOver) throw new Error('A write came after the end of the unit of work that it belongs to');
    return this.open();
  }

  end(): void {
    this.isOver = true;
  }
}
