import type { RequestReads, RequestScope } from '../../replication.js';

/** Which server the reads of a request may use. */
export class ReadScope implements RequestScope {
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
