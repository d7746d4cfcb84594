import type { EntityMetadata } from 'typeorm';
import { pendingMigrations } from './pending-migrations.js';
import { Queries } from './queries.js';
import type { ServiceDataSource } from './service-data-source.js';
import { Transactions } from './transactions.js';

export interface SchemaFault {
  readonly field: string;
  readonly message: string;
}

/** Signals between processes through the database. */
export interface Listening {
  /** Whether signals arrive, as far as is known: without them, the listener has to poll. */
  readonly works: boolean;
  close(): Promise<void>;
}

/** The load of a connection pool. */
export interface PoolLoad {
  readonly name: string;
  /** The maximum number of connections. */
  readonly max: number;
  readonly used: number;
  readonly idle: number;
  /** The number of waiting requests for a connection. */
  readonly pending: number;
}

const LOST = 'is a table that the database has lost, or that its role may no longer see; restore it';
const MISSING = 'is a column that the database lacks; make a migration that adds it';

/** An open database of either kind. */
export abstract class Database {
  readonly queries: Queries;
  readonly transactions: Transactions;
  private pending = 0;

  /** @param source initialized */
  constructor(readonly source: ServiceDataSource) {
    this.transactions = new Transactions(source);
    this.queries = new Queries(this.transactions, source);
  }

  /** Whether migrations were pending when the schema was last checked. */
  get isBehind(): boolean {
    return this.pending > 0;
  }

  /** The number of pending migrations. It queries the database each time. */
  async pendingMigrations(): Promise<number> {
    const { length } = await pendingMigrations((sql) => this.monitor(sql), this.source.tables);
    return (this.pending = length);
  }

  /**
   * The faults of the schema, as sentences for an operator: pending migrations, and missing columns of entities. It
   * queries the database each time.
   */
  async schemaFaults(): Promise<SchemaFault[]> {
    const pending = await this.pendingMigrations();
    // Pending migrations cause all other faults.
    if (pending > 0) return [{ field: 'migrations', message: `${pending} still to run` }];
    return this.missingParts();
  }

  /** Tables and columns of entities that are missing. Further ones are no fault: another build may need them. */
  private async missingParts(): Promise<SchemaFault[]> {
    const rows = await this.monitor<{ table: string; column: string }>(this.queries.dialect.columns);
    const found = new Set(rows.map(({ table }) => table));
    const columns = new Set(rows.map(({ table, column }) => `${table}.${column}`));
    const stored = this.source.entityMetadatas.filter(
      ({ tableType, synchronize }) => tableType !== 'view' && synchronize,
    );
    const isLost = ({ tableName }: EntityMetadata) =>
      !found.has(tableName) && this.source.tables.has(tableName);
    for (const name of found) this.source.tables.add(name);
    const missing = stored
      .filter((entity) => !isLost(entity))
      .flatMap(({ tableName, columns: own }) => own.map(({ databaseName }) => `${tableName}.${databaseName}`))
      .filter((name) => !columns.has(name));
    return [
      ...stored
        .filter(isLost)
        .map(({ tableName }) => ({ field: 'database', message: `${tableName} ${LOST}` })),
      ...missing.map((name) => ({ field: 'schema', message: `${name} ${MISSING}` })),
    ];
  }

  /** @throws Error if requests cannot use the database, although {@link monitor} can */
  async probe(): Promise<void> {
    // With one connection for all, there is no difference.
  }

  /** Why the database accepts no writes, according to the last writes. */
  storageFault(): Promise<string | undefined> {
    return this.source.storage.fault(() => this.probeStorage());
  }

  /**
   * Listens to the signals of other processes (`Dialect.notify`); signals may be lost.
   *
   * @param channel a name of the application, never text from outside
   * @returns nothing where no signals can arrive: on SQLite and behind a pooler
   */
  abstract listen(channel: string, onSignal: () => void): Listening | undefined;

  /** Reads on a connection that is not shared with requests, for health and metrics. */
  abstract monitor<Row>(sql: string): Promise<Row[]>;

  /** Tests whether the database can write, without leaving rows. */
  protected abstract probeStorage(): Promise<unknown>;

  /** The number of slow reads that can run at once. */
  abstract readonly searches: number;

  /** The load of the connections. On SQLite, the writer is a pool of one, and the reader threads are another. */
  abstract pools(): readonly PoolLoad[];

  protected get waitingSearches(): number {
    return this.queries.searchQueue?.waiting ?? 0;
  }

  /** Sets a listener for how long each write on SQLite waits for the others, in seconds. */
  onWait(_listener: (seconds: number) => void): void {
    // With several connections, no write waits for the others.
  }

  abstract close(): Promise<void>;
}
