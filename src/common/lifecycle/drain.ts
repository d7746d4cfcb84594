import { Injectable } from '@nestjs/common';

/** How far the process is on its way out. It serves, drains, then closes; there is no way back. */
@Injectable()
export class Drain {
  #state: 'serving' | 'draining' | 'closing' = 'serving';

  /** Requests are still served, but connections are not kept, and `/health/ready` reports 503. */
  get draining(): boolean {
    return this.#state !== 'serving';
  }

  /** Only what is in flight is finished; another request on an open connection gets 503. */
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
