import { Injectable } from '@nestjs/common';

/** The phases of a shutdown. A process serves, drains, then closes; it never goes back. */
@Injectable()
export class Drain {
  #state: 'serving' | 'draining' | 'closing' = 'serving';

  /** Requests are served, also on new connections, and `/health/ready` responds with 503. */
  get draining(): boolean {
    return this.#state !== 'serving';
  }

  /** New connections are rejected; each open one is closed after its next response. */
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
