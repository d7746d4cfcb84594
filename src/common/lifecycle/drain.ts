import { Injectable } from '@nestjs/common';

/** How far the process is on its way out. It serves, drains, then closes; there is no way back. */
@Injectable()
export class Drain {
  #state: 'serving' | 'draining' | 'closing' = 'serving';

  /** Requests are still served, on new connections too, and `/health/ready` reports 503. */
  get draining(): boolean {
    return this.#state !== 'serving';
  }

  /** No connection is accepted any more; each open one is closed after its next response. */
  get closing(): boolean {
    return this.#state === 'closing';
  }

  begin(): void {
    this.#state = 'draining';
  }

  close(): void {
    this.#state = 'closing';
  }
}
