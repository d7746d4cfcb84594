import { randomUUID } from 'node:crypto';
import type { Service } from '../support/service.ts';
import { type Load, send } from './load.ts';

const CLIENTS = 8;

/** A stub, and the response if there was one. */
interface Sent {
  readonly key: string;
  received?: string;
}

interface Outcome {
  readonly acknowledged: number;
  /** Number of stubs in flight when the service was killed, and number of these that were created. */
  readonly unacknowledged: number;
  readonly replayed: number;
}

/**
 * Creates stubs with keys until the service is killed. Then it sends each of them again with its key: acknowledged ones must get
 * the same response, and those in flight are created unless they already exist.
 */
export class KeyedWrites {
  private sent: Sent[] = [];
  /** The expected number of stubs of all rounds. */
  private total = 0;

  async run(load: Load): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, () => this.createStubs(load)));
  }

  /** Number of stubs acknowledged since the last check. */
  get acknowledged(): number {
    return this.sent.filter(({ received }) => received !== undefined).length;
  }

  async verify(service: Service): Promise<Outcome> {
    let replayed = 0;
    for (const stub of this.sent) {
      const reply = await service.fetch('/v1/stubs', request(stub));
      const received = await reply.text();
      const isReplay = reply.headers.get('idempotent-replayed') === 'true';
      if (reply.status !== 201) throw new Error(`A retry got ${reply.status}: ${received}`);
      if (stub.received !== undefined && (stub.received !== received || !isReplay)) {
        throw new Error(`A stub got ${stub.received}, and its retry ${received}`);
      }
      if (stub.received === undefined && isReplay) replayed++;
    }
    this.total += this.sent.length;
    const list = (await (await service.fetch('/v1/stubs')).json()) as { meta: { total: number } };
    if (list.meta.total !== this.total) {
      throw new Error(`There are ${list.meta.total} stubs, ${this.total} were expected`);
    }
    const unacknowledged = this.sent.filter(({ received }) => received === undefined).length;
    const acknowledged = this.sent.length - unacknowledged;
    this.sent = [];
    return { acknowledged, unacknowledged, replayed };
  }

  private async createStubs(load: Load): Promise<void> {
    for (;;) {
      const stub: Sent = { key: randomUUID() };
      this.sent.push(stub);
      const received = await send(load, 201, '/v1/stubs', request(stub));
      if (received === 'killed') return;
      stub.received = received;
    }
  }
}

const request = ({ key }: Sent): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'idempotency-key': key },
  body: JSON.stringify({ name: key }),
});
