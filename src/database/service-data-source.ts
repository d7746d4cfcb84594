import { AsyncLocalStorage } from 'node:async_hooks';
import { DataSource, EntityManager, type QueryRunner, type ReplicationMode } from 'typeorm';
import { type CheckedRunner, checkedRunner } from './checked-runner.js';
import type { Companion } from './companion.js';
import { currentReadScope } from './read-scope.js';
import { Storage } from './storage.js';
import { UnitOfWork } from './unit-of-work.js';

type Isolation = NonNullable<Parameters<QueryRunner['startTransaction']>[0]>;

/**
 * TypeORM's data source. Its repositories and managers are safe for everything on both databases, and take
 * part in the current unit of work (`Transactions.run`).
 */
export abstract class ServiceDataSource extends DataSource {
  private readonly units = new AsyncLocalStorage<UnitOfWork>();

  /** Whether the database accepts writes. */
  readonly storage = new Storage();

  /** The companions of every change. */
  readonly companions: Companion[] = [];

  /** Whether a change in the current context has companions. */
  get isAccompanied(): boolean {
    return this.companions.some((companion) => companion.isWanted());
  }

  /** The current unit of work. */
  get unit(): UnitOfWork | undefined {
    const unit = this.units.getStore();
    return unit?.isUnderWay ? unit : undefined;
  }

  /** Runs the work, and everything that it calls, as a part of the unit. */
  within<T>(unit: UnitOfWork, work: () => Promise<T>): Promise<T> {
    return this.units.run(unit, () => unit.complete(work));
  }

  /** @param begin begins the transaction, unless it is in progress */
  newUnit(runner: CheckedRunner, begin?: () => Promise<void>): UnitOfWork {
    return new UnitOfWork(runner, this.units, begin);
  }

  override createQueryRunner(mode: ReplicationMode = 'master'): QueryRunner {
    const { unit } = this;
    if (mode === 'master') currentReadScope()?.markWritten();
    if (!unit || (mode === 'slave' && !unit.hasWritten)) return this.createAccompaniedRunner(mode);
    const runner = unit.lend();
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  /** A runner outside of any unit of work, without companions. */
  createOwnQueryRunner(mode: ReplicationMode = 'master'): CheckedRunner {
    if (mode === 'master') currentReadScope()?.markWritten();
    const runner = checkedRunner(this.newRunner(mode), { onError: (error) => this.storage.note(error) });
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  /**
   * Runs the companions of a transaction with changes, before its commit.
   *
   * @returns a callback for after the commit
   */
  async accompany(runner: CheckedRunner, subjects: Iterable<string> = []): Promise<() => void> {
    const unit = this.newUnit(runner);
    if (runner.hasChanged()) {
      const companions = this.companions.filter((companion) => companion.isWanted());
      await this.within(unit, async () => {
        for (const companion of companions) await companion.write([...subjects]);
      });
    }
    return () => unit.reportCommit();
  }

  private createAccompaniedRunner(mode: ReplicationMode): CheckedRunner {
    const runner = checkedRunner(this.newRunner(mode), {
      onError: (error) => this.storage.note(error),
      isAccompanied: () => this.isAccompanied,
      beforeCommit: (checked) => this.accompany(checked),
    });
    return Object.assign(runner, { manager: this.createEntityManager(runner) });
  }

  /** Called by the constructor of `DataSource`, too. */
  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ServiceEntityManager(this, runner);
  }

  /** A runner of the driver, for one user. */
  protected newRunner(mode: ReplicationMode): QueryRunner {
    return super.createQueryRunner(mode);
  }
}

class ServiceEntityManager extends EntityManager {
  override transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;
  override transaction<T>(isolation: Isolation, work: (manager: EntityManager) => Promise<T>): Promise<T>;
  override transaction<T>(...parameters: [any, any?]): Promise<T> {
    const source = this.dataSource as ServiceDataSource;
    const { unit } = source;
    if (!unit || (this.queryRunner && !unit.lent(this.queryRunner))) {
      return super.transaction<T>(...(parameters as [Isolation, () => Promise<T>]));
    }
    return unit.nest((inner, runner) => {
      const manager = new ServiceEntityManager(source, runner);
      return source.within(inner, () => manager.plainTransaction<T>(...parameters));
    });
  }

  private plainTransaction<T>(...parameters: [any, any?]): Promise<T> {
    return super.transaction<T>(...(parameters as [Isolation, () => Promise<T>]));
  }
}
