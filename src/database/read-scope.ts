import { AsyncLocalStorage } from 'node:async_hooks';

/** Where the reads of a request may go. Outside of a scope, everything is read from the primary. */
export class ReadScope {
  private hasWritten = false;
  private isOver = false;

  /**
   * @param mayWrite whether the request may change something, so that what it reads decides
   * @param position what the reads have to see: a position in the write-ahead log
   */
  constructor(
    private mayWrite: boolean,
    readonly position: bigint | undefined,
  ) {}

  /** It has turned out that the request changes nothing. */
  markReadOnly(): void {
    this.mayWrite = false;
  }

  /** Something may have been written: from now on, the request reads from the primary. */
  markWritten(): void {
    this.hasWritten = true;
  }

  /** The response has left: what the request has started in the background reads from the primary. */
  end(): void {
    this.isOver = true;
  }

  get mayUseReplica(): boolean {
    return !this.mayWrite && !this.hasWritten && !this.isOver;
  }

  /** Whether the response is one to a write. */
  isOfWrite(hasSucceeded: boolean): boolean {
    return this.hasWritten || (this.mayWrite && hasSucceeded);
  }
}

const scopes = new AsyncLocalStorage<ReadScope>();

export const runInReadScope = <T>(scope: ReadScope, work: () => T): T => scopes.run(scope, work);

export const currentReadScope = (): ReadScope | undefined => scopes.getStore();
