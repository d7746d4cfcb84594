import { AsyncLocalStorage } from 'node:async_hooks';

/** Which server the reads of a request may use. Outside of a scope, it is the primary. */
export class ReadScope {
  private hasWritten = false;
  private isOver = false;

  /**
   * @param mayWrite whether the request may change something, so that its reads must be current
   * @param position the position in the write-ahead log that the reads must include
   */
  constructor(
    private mayWrite: boolean,
    readonly position: bigint | undefined,
  ) {}

  /** The request changes nothing, as its body has shown. */
  markReadOnly(): void {
    this.mayWrite = false;
  }

  /** Something may have been written: from now on, the request reads from the primary. */
  markWritten(): void {
    this.hasWritten = true;
  }

  /** The response was sent: background work of the request reads from the primary. */
  end(): void {
    this.isOver = true;
  }

  get mayUseReplica(): boolean {
    return !this.mayWrite && !this.hasWritten && !this.isOver;
  }

  /** Whether the response belongs to a write. */
  isOfWrite(hasSucceeded: boolean): boolean {
    return this.hasWritten || (this.mayWrite && hasSucceeded);
  }
}

const scopes = new AsyncLocalStorage<ReadScope>();

export const runInReadScope = <T>(scope: ReadScope, work: () => T): T => scopes.run(scope, work);

export const currentReadScope = (): ReadScope | undefined => scopes.getStore();
