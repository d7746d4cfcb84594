import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { PostgresStore } from '../../../config/config.js';
import { isConnectionLost, isReplicaFailure } from '../../failures.js';
import type { Replication, ReplicaState, RequestReads, RequestScope } from '../../replication.js';
import { parsePosition, Replica } from './replica.js';

/** The interval between two checks of all servers, in milliseconds. */
const INTERVAL = 1000;

/** How long a read waits for a replica with the required position, and the interval of its checks, in milliseconds. */
const REPLICA_TIMEOUT = 100;
const POLL = 10;

/** A read that took longer has failed because it is slow, and is not repeated, in milliseconds. */
const MAX_REPEATED = 5000;

/** The state of a replica when a request chose it. */
interface Choice {
  readonly replica: Replica;
  readonly generation: number;
}

/** Which server the reads of a request may use. */
class ReadScope implements RequestScope {
  readonly position: bigint | undefined;
  private mayWrite: boolean;
  private hasWritten = false;
  private isOver = false;

  constructor({ mayWrite, position }: RequestReads) {
    this.mayWrite = mayWrite;
    this.position = position;
  }

  markReadOnly(): void {
    this.mayWrite = false;
  }

  markWritten(): void {
    this.hasWritten = true;
  }

  end(): void {
    this.isOver = true;
  }

  get mayUseReplica(): boolean {
    return !this.mayWrite && !this.hasWritten && !this.isOver;
  }

  isOfWrite(hasSucceeded: boolean): boolean {
    return this.hasWritten || (this.mayWrite && hasSucceeded);
  }
}

/** Reads on standbys of the primary, whose data may be a little old. */
export class Replicas implements Replication {
  readonly all: readonly Replica[];
  private readonly choices = new WeakMap<ReadScope, Promise<Choice | undefined>>();
  private readonly scopes = new AsyncLocalStorage<ReadScope>();
  private readonly reading = new AsyncLocalStorage<Replica>();
  private readonly timer: NodeJS.Timeout;
  private choicesMade = 0;
  private query: Promise<bigint> | undefined;
  private nextQuery: Promise<bigint> | undefined;

  /** @param primary a connection that is not shared with requests */
  constructor(
    store: PostgresStore,
    private readonly primary: Pool,
  ) {
    this.all = store.replicaUrls.map((url) => new Replica(url, store));
    this.timer = setInterval(() => void this.refresh(), INTERVAL).unref();
  }

  /** The replica of the current reads; undefined: the primary. */
  get current(): Replica | undefined {
    return this.reading.getStore();
  }

  states(): readonly ReplicaState[] {
    return this.all.map(({ name, isUsable: isUsed, lag }) => ({ name, isUsed, lag }));
  }

  runRequest(reads: RequestReads, work: (scope: ReadScope) => void): void {
    const scope = new ReadScope(reads);
    this.scopes.run(scope, work, scope);
  }

  /** Something may have been written: from now on, the request reads from the primary. */
  noteWrite(): void {
    this.scopes.getStore()?.markWritten();
  }

  /** Checks every server, so that the available ones are used. */
  async refresh(): Promise<void> {
    // The flush position, not the insert position: a standby gets only flushed data.
    const sampled = this.positionOf('pg_current_wal_flush_lsn()').then(
      (position) => ({ position, at: performance.now() }),
      () => undefined,
    );
    const sample = await sampled;
    await Promise.all(
      this.all.map((replica) => {
        if (sample) replica.compare(sample);
        return replica.refresh();
      }),
    );
  }

  /**
   * The primary's position after all commits. Concurrent calls share a query that was sent
   * after them, so that many writes cost few round trips.
   */
  position(): Promise<bigint> {
    if (!this.query) {
      this.query = this.positionOf('pg_current_wal_insert_lsn()').finally(() => (this.query = undefined));
      return this.query;
    }
    this.nextQuery ??= this.query
      .catch(() => undefined)
      .then(() => {
        this.nextQuery = undefined;
        return this.position();
      });
    return this.nextQuery;
  }

  /**
   * Reads from a replica, if the current request may. A read that fails because of the replica, or finds no row
   * (`undefined` or null), is repeated on the primary.
   *
   * @param work nothing but reads; it may run twice
   */
  async read<T>(work: () => Promise<T>): Promise<T> {
    const scope = this.scopes.getStore();
    if (!scope?.mayUseReplica || this.current) return work();
    const choice = await this.choiceOf(scope);
    if (!choice?.replica.isUsable || !scope.mayUseReplica) return work();
    const { replica } = choice;
    const start = performance.now();
    try {
      const result = await this.reading.run(replica, work);
      const isCurrent = scope.position === undefined || choice.generation === replica.generation;
      // A row that is missing may be new: a client that has just created it must not get 404.
      if (isCurrent && result != null) return result;
      // Or the read may have used a connection that was opened meanwhile, to a server that has restarted.
    } catch (error) {
      if (!isReplicaFailure(error) || performance.now() - start > MAX_REPEATED) throw error;
      if (isConnectionLost(error)) replica.markLost();
    }
    // Later reads of the request must not be older.
    this.choices.set(scope, Promise.resolve(undefined));
    return work();
  }

  /** The log of a new primary may end before the position that the former one had reached. */
  forgetPositions(): void {
    for (const replica of this.all) replica.markLost();
  }

  async close(): Promise<void> {
    clearInterval(this.timer);
    await Promise.all(this.all.map((replica) => replica.close()));
  }

  /** One replica for all reads of a request, so that they are consistent. */
  private choiceOf(scope: ReadScope): Promise<Choice | undefined> {
    let choice = this.choices.get(scope);
    if (!choice) this.choices.set(scope, (choice = this.choose(scope.position)));
    return choice;
  }

  private async choose(position: bigint = 0n): Promise<Choice | undefined> {
    const first = this.choicesMade++ % this.all.length;
    const roundRobin = [...this.all.slice(first), ...this.all.slice(0, first)];
    const end = performance.now() + REPLICA_TIMEOUT;
    for (;;) {
      const usable = roundRobin.filter(({ isUsable }) => isUsable);
      const replica = usable.find(({ replayed }) => replayed >= position);
      if (replica) return { replica, generation: replica.generation };
      const left = end - performance.now();
      if (usable.length === 0 || left <= 0) return undefined;
      await Promise.race([sleep(left), ...usable.map((each) => each.refresh())]);
      if (usable.every(({ replayed }) => replayed < position)) await sleep(POLL);
    }
  }

  private async positionOf(expression: string): Promise<bigint> {
    const { rows } = await this.primary.query<{ position: string }>(`SELECT ${expression}::text AS position`);
    return parsePosition(rows[0]!.position);
  }
}
