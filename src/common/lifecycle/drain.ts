import { Injectable } from '@nestjs/common';

/** How far the process is on its way out. It serves, then leaves in one of two ways; there is no way back. */
@Injectable()
export class Drain {
  #state: 'serving' | 'retiring' | 'draining' | 'closing' = 'serving';

  /** Requests are still served, but connections are not kept. */
  get leaving(): boolean {
    return this.#state !== 'serving';
  }

  /** `/health/ready` says 503, so that no more requests are sent here. */
  get draining(): boolean {
    return this.#state === 'draining' || this.#state === 'closing';
  }

  /** Only what is in flight is finished; another request on an open connection is refused with 503. */
  get closing(): boolean {
    return this.#state === 'closing';
  }

  /** This process goes and the service stays: others take its place behind the same port. */
  retire(): void {
    this.#state = 'retiring';
  }

  begin(): void {
    this.#state = 'draining';
  }

  close(): void {
    this.#state = 'closing';
  }
}
