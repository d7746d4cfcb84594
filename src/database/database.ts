import { isMissingTable } from './failures.js';
import { changedMigrations, CHECKSUMS_TABLE } from './migration-checksums.js';
import { countPending } from './pending-migrations.js';
import type { Listening } from './listening.js';
import type { Queries } from './queries.js';
import type { ServiceDataSource } from './service-data-source.js';
import type { Transactions } from './transactions.js';

export interface SchemaFault {
  readonly field: string;
  readonly message: string;
}

/** How busy a pool of connections is. */
export interface PoolLoad {
  readonly name: string;
  /** How many connections it may open. */
  readonly max: number;
  readonly used: number;
  readonly idle: number;
  /** How much work waits for a connection. */
  readonly pending: number;
}

/** Whether reads go to a replica, and how long the primary has been ahead of it, in seconds. */
export interface ReplicaState {
  readonly name: string;
  readonly isUsed: boolean;
  readonly lag: number;
}

const CHANGED =
  'was changed after it ran; undo the change and make another migration, or accept it: npm run migrate -- --accept-changed';
const MISSING = 'is a column that the database lacks; make a migration that adds it';

const noneWithoutTable = (error: unknown): never[] => {
  if (isMissingTable(error)) return [];
  throw error;
};

/** One open database, whichever it is. */
export abstract class Database {
  abstract readonly source: ServiceDataSource;
  abstract readonly queries: Queries;
  abstract readonly transactions: Transactions;

  /** How many migrations of this build the schema does not have yet. Asks the database each time. */
  pendingMigrations(): Promise<number> {
    return countPending(() => this.peek('SELECT name FROM migrations'));
  }

  /**
   * What is wrong with the schema, in sentences for an operator: migrations that have not run, or that were changed
   * after they ran, and columns that entities have and tables lack. Asks the database each time.
   */
  async schemaFaults(): Promise<SchemaFault[]> {
    const pending = await this.pendingMigrations();
    // All else would follow from it.
    if (pending > 0) return [{ field: 'migrations', message: `${pending} still to run` }];
    const remembered = await this.peek<{ name: string; checksum: string }>(
      `SELECT name, checksum FROM ${CHECKSUMS_TABLE}`,
    ).catch(noneWithoutTable);
    return [
      ...changedMigrations(remembered).map((name) => ({
        field: 'migrations',
        message: `${name} ${CHANGED}`,
      })),
      ...(await this.missingColumns()).map((name) => ({ field: 'schema', message: `${name} ${MISSING}` })),
    ];
  }

  /** As `comments.rating`. More columns than the entities have are as they should be: the next build may need them. */
  private async missingColumns(): Promise<string[]> {
    const rows = await this.peek<{ table: string; column: string }>(this.queries.dialect.columns);
    const columns = new Set(rows.map(({ table, column }) => `${table}.${column}`));
    return this.source.entityMetadatas
      .filter(({ tableType, synchronize }) => tableType !== 'view' && synchronize)
      .flatMap(({ tableName, columns: own }) => own.map(({ databaseName }) => `${tableName}.${databaseName}`))
      .filter((name) => !columns.has(name));
  }

  /** Whether the database can be written to, as far as the last writes tell. */
  isWritable(): Promise<boolean> {
    return this.source.storage.works(() => this.probeStorage());
  }

  /**
   * Listens to the signals of other processes (`Dialect.notify`); they may be lost.
   *
   * @param channel one of our own names, never text from outside
   */
  abstract listen(channel: string, onSignal: () => void): Listening;

  /** Reads in a way that does not queue behind requests: for health and metrics. */
  abstract peek<Row>(sql: string): Promise<Row[]>;

  /** Writes something that takes room, and leaves nothing behind. */
  protected abstract probeStorage(): Promise<unknown>;

  /** How busy the connections are. On SQLite, the one that writes is a pool of one, and the threads that read another. */
  abstract pools(): readonly PoolLoad[];

  /** The read replicas, none unless they are configured. */
  replicas(): readonly ReplicaState[] {
    return [];
  }

  /** What a read has to see, to see all that has been committed: a position in the write-ahead log. */
  position(): Promise<bigint> {
    throw new Error('There are no read replicas');
  }

  /** Has someone see how long each write on SQLite waits for its turn, in seconds. */
  onWait(_listener: (seconds: number) => void): void {
    // Where connections are many, nobody takes turns.
  }

  abstract close(): Promise<void>;
}
