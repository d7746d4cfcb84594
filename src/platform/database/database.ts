import { pendingMigrations } from './pending-migrations.js';
import { Queries } from './queries.js';
import type { ServiceDataSource } from './service-data-source.js';
import { Transactions } from './transactions.js';

export interface SchemaFault {
  readonly field: string;
  readonly message: string;
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

/** A privilege on a table or a sequence. */
interface Privilege {
  readonly name: string;
  readonly privilege: string;
  readonly isHeld: boolean;
}

const nameOf = ({ name, privilege }: Privilege): string => `${privilege} on ${name}`;

const LOST = 'is a table that the database has lost, or that its role may no longer see; restore it';
const WITHDRAWN = 'is a privilege that the role has lost; grant it';
const MISSING = 'is a column that the database lacks; make a migration that adds it';

/** An open database of either kind. */
export abstract class Database {
  readonly queries: Queries;
  readonly transactions: Transactions;
  /** Undefined before the schema is checked. */
  private pending: number | undefined;
  /** The privileges that the role has had, such as `INSERT on mails`. */
  private readonly privileges = new Set<string>();

  /** @param source initialized */
  constructor(readonly source: ServiceDataSource) {
    this.transactions = new Transactions(source);
    this.queries = new Queries(this.transactions, source);
  }

  /** Whether migrations were pending when the schema was last checked. */
  get isBehind(): boolean {
    return (this.pending ?? 0) > 0;
  }

  /** The number of pending migrations. It queries the database each time. */
  async pendingMigrations(): Promise<number> {
    const { length } = await pendingMigrations((sql) => this.inspect(sql), this.source.tables);
    return (this.pending = length);
  }

  /**
   * The faults of the schema, as sentences for an operator: pending migrations, lost tables and privileges, and missing
   * columns of entities. It queries the database each time.
   */
  async schemaFaults(): Promise<SchemaFault[]> {
    // Once all have run, no request needs their table, which may be locked.
    const pending = this.pending === 0 ? 0 : await this.pendingMigrations();
    // Pending migrations cause all other faults.
    if (pending > 0) return [{ field: 'migrations', message: `${pending} still to run` }];
    return this.missingParts();
  }

  /**
   * Tables, privileges and columns that are missing. Further ones are no fault: another build may need them. Only the
   * privileges that the role has had are missing, and SELECT on the tables of entities: no table needs all of them.
   */
  private async missingParts(): Promise<SchemaFault[]> {
    const { source, privileges } = this;
    const { dialect } = this.queries;
    const granted =
      dialect.privileges === undefined ? undefined : await this.inspect<Privilege>(dialect.privileges);
    const rows = await this.inspect<{ table: string; column: string }>(dialect.columns);
    const found = new Set(rows.map(({ table }) => table));
    const columns = new Set(rows.map(({ table, column }) => `${table}.${column}`));
    const stored = source.entityMetadatas.filter(
      ({ tableType, synchronize }) => tableType !== 'view' && synchronize,
    );
    const isLost = (name: string) => !found.has(name) && source.tables.has(name);
    for (const name of found) {
      source.tables.add(name);
      source.lostTables.delete(name);
    }
    const needed = ['migrations', ...stored.map(({ tableName }) => tableName)];
    const lost = new Set([...needed.filter(isLost), ...source.lostTables]);
    const missing = stored
      .filter(({ tableName }) => !lost.has(tableName))
      .flatMap(({ tableName, columns: own }) => own.map(({ databaseName }) => `${tableName}.${databaseName}`))
      .filter((name) => !columns.has(name));
    const held = new Set(granted?.filter(({ isHeld }) => isHeld).map(nameOf));
    const withdrawn = new Set(granted?.map(nameOf).filter((name) => privileges.has(name) && !held.has(name)));
    for (const { tableName: name } of granted ? stored : [])
      if (found.has(name) && !held.has(`SELECT on ${name}`)) withdrawn.add(`SELECT on ${name}`);
    for (const name of held) privileges.add(name);
    return [
      ...[...lost].map((name) => ({ field: 'database', message: `${name} ${LOST}` })),
      ...[...withdrawn].map((name) => ({ field: 'database', message: `${name} ${WITHDRAWN}` })),
      ...missing.map((name) => ({ field: 'schema', message: `${name} ${MISSING}` })),
    ];
  }

  /** @throws Error if requests cannot use the database, although {@link inspect} can */
  async probe(): Promise<void> {
    // With one connection for all, there is no difference.
  }

  /** Why the database accepts no writes, according to the last writes. */
  storageFault(): Promise<string | undefined> {
    return this.source.storage.fault(() => this.probeStorage());
  }

  /** Reads on a connection that is not shared with requests, for metrics. It does not wait for a locked table. */
  abstract monitor<Row>(sql: string): Promise<Row[]>;

  /** The same for health checks, which read no table that may be locked for long. */
  protected abstract inspect<Row>(sql: string): Promise<Row[]>;

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
