/** Whether a replica is used for reads, and its lag in seconds. */
export interface ReplicaState {
  readonly name: string;
  readonly isUsed: boolean;
  readonly lag: number;
}

/** Which server the reads of a request may use. */
export interface RequestReads {
  /** Whether the request may change something, so that its reads must be current. */
  readonly mayWrite: boolean;
  /** The position in the write-ahead log that the reads must include. */
  readonly position: bigint | undefined;
}

/** The reads of a request. */
export interface RequestScope {
  /** The request changes nothing, as its body has shown. */
  markReadOnly(): void;
  /** The response was sent: background work of the request reads from the primary. */
  end(): void;
  /** Whether the response belongs to a write. */
  isOfWrite(hasSucceeded: boolean): boolean;
}

/** Read replicas, for requests and metrics. Reads use them by `Queries.onReplica`. */
export interface Replication {
  states(): readonly ReplicaState[];
  /** A position in the write-ahead log after everything that has been committed. */
  position(): Promise<bigint>;
  /** Runs the rest of a request, whose reads may use a replica. Without it, they use the primary. */
  runRequest(reads: RequestReads, work: (scope: RequestScope) => void): void;
}
