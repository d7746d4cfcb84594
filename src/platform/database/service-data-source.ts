import { AsyncLocalStorage } from 'node:async_hooks';
import {
  DataSource,
  type DataSourceOptions,
  EntityManager,
  type QueryRunner,
  type ReplicationMode,
} from 'typeorm';
import type { Dialect } from './dialect.js';
import { missingTable, tableLost } from './failures.js';
import { migrations } from './migrations/index.js';
import type { StatementParameters as Values } from './statement.js';
import { Storage } from './storage.js';
import { type Isolation, TransactionSubscriber } from './transaction-state.js';
import { type ServiceQueryRunner, UnitOfWork } from './unit-of-work.js';

/**
 * TypeORM's data source. Its repositories and managers are safe for everything on both databases, and take
 * part in the current unit of work (`Transactions.run`).
 */
export abstract class ServiceDataSource extends DataSource {
  abstract readonly dialect: Dialect;

  private readonly units = new AsyncLocalStorage<UnitOfWork>();

  /** Whether the database accepts writes. */
  readonly storage = new Storage();

  /** The tables that the database had when its schema was last checked, or before. */
  readonly tables = new Set<string>();

  constructor(options: DataSourceOptions) {
    super({ ...options, migrations, subscribers: [TransactionSubscriber] });
  }

  /** TypeORM's own commands, such as `migration:revert`, replace the subscribers. */
  override setOptions(options: Partial<DataSourceOptions>): this {
    if (!options.subscribers) return super.setOptions(options);
    const subscribers = [...Object.values(options.subscribers), TransactionSubscriber];
    return super.setOptions({ ...options, subscribers });
  }

  /** The current unit of work. */
  get unit(): UnitOfWork | undefined {
    const unit = this.units.getStore();
    return unit?.isActive ? unit : undefined;
  }

  /** @param begin begins the transaction */
  newUnit(runner: ServiceQueryRunner, begin: () => Promise<void>): UnitOfWork {
    return new UnitOfWork({ runner, current: this.units, begin });
  }

  /** A runner that takes part in the current unit of work, if there is one. */
  override createQueryRunner(mode: ReplicationMode = 'master'): ServiceQueryRunner {
    const { unit } = this;
    const runner = this.createOwnQueryRunner(mode);
    return unit && (mode === 'master' || unit.isInTransaction) ? runner.join(unit) : runner;
  }

  /** A runner for a unit of work, which ends soon: it only reads and writes the database. */
  createUnitRunner(): ServiceQueryRunner {
    return this.createOwnQueryRunner();
  }

  /** Reads by prepared SQL, see `Queries`. */
  abstract read<Row>(sql: string, parameters?: Values): Promise<Row[]>;

  /** Like `read`, without delaying others; it is stopped after eight seconds. */
  abstract readSlowly<Row>(sql: string, parameters?: Values): Promise<Row[]>;

  /** Runs a writing statement in a transaction of its own. */
  abstract autocommit<Row>(sql: string, parameters: Values): Promise<Row[]>;

  /** A runner outside of any unit of work. */
  createOwnQueryRunner(mode: ReplicationMode = 'master'): ServiceQueryRunner {
    return super.createQueryRunner(mode) as ServiceQueryRunner;
  }

  /** Those of {@link tables} that a statement has not found. */
  readonly lostTables = new Set<string>();

  /** The error to throw for one of a statement: an outage, and no mistake, if the disk is full or a table is lost. */
  readonly explain = (error: unknown, sql: string): unknown => {
    this.storage.note(error);
    const table = missingTable(error, sql);
    if (table === undefined || !this.tables.has(table)) return error;
    this.lostTables.add(table);
    return tableLost(table, error);
  };

  /** Called by the constructor of `DataSource`, too. */
  override createEntityManager(runner?: QueryRunner): EntityManager {
    return new ServiceEntityManager(this, runner);
  }
}

/** Its transactions within a unit of work are nested transactions of that unit. */
class ServiceEntityManager extends EntityManager {
  override transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;
  override transaction<T>(isolation: Isolation, work: (manager: EntityManager) => Promise<T>): Promise<T>;
  override transaction<T>(...parameters: [any, any?]): Promise<T> {
    const { unit } = this.dataSource as ServiceDataSource;
    const runner = this.queryRunner as ServiceQueryRunner | undefined;
    if (!unit || (runner && !unit.isWithin(runner.unit))) return this.transact<T>(...parameters);
    const work = parameters.pop() as (manager: EntityManager) => Promise<T>;
    return unit.nest((nested) => {
      const { manager } = this.dataSource.createQueryRunner();
      return (manager as ServiceEntityManager).transact<T>(...parameters, async (own: EntityManager) => {
        const value = await work(own);
        await nested.settle();
        return value;
      });
    });
  }

  private async transact<T>(...parameters: any[]): Promise<T> {
    const runner = this.queryRunner as ServiceQueryRunner | undefined;
    // After an error, a nested transaction cannot begin, and TypeORM would roll back the transaction around it.
    (runner?.unit?.runner ?? runner)?.transaction.check();
    return super.transaction<T>(...(parameters as [Isolation, () => Promise<T>]));
  }
}
