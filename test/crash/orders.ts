import { randomUUID } from 'node:crypto';
import type { Service } from '../support/service.ts';
import { type Load, send } from './load.ts';

const CLIENTS = 8;

/** An order, and its response if there was one. */
interface Sent {
  readonly key: string;
  received?: string;
}

interface Outcome {
  readonly acknowledged: number;
  /** Number of orders in flight when the service was killed, and number of these that were created. */
  readonly unacknowledged: number;
  readonly replayed: number;
}

/**
 * Creates orders until the service is killed. Then it sends every order again with its key: acknowledged ones must get
 * the same response, and those in flight are created unless they already exist.
 */
export class Orders {
  private sent: Sent[] = [];
  /** The expected number of orders of all rounds. */
  private total = 0;

  async run(load: Load): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, () => this.createOrders(load)));
  }

  /** Number of orders acknowledged since the last check. */
  get acknowledged(): number {
    return this.sent.filter(({ received }) => received !== undefined).length;
  }

  async verify(service: Service): Promise<Outcome> {
    let replayed = 0;
    for (const order of this.sent) {
      const reply = await service.fetch('/v1/orders', request(order));
      const received = await reply.text();
      const isReplay = reply.headers.get('idempotent-replayed') === 'true';
      if (reply.status !== 201) throw new Error(`A retry got ${reply.status}: ${received}`);
      if (order.received !== undefined && (order.received !== received || !isReplay)) {
        throw new Error(`An order got ${order.received}, and its retry ${received}`);
      }
      if (order.received === undefined && isReplay) replayed++;
    }
    this.total += this.sent.length;
    const list = (await (await service.fetch('/v1/orders')).json()) as { meta: { total: number } };
    if (list.meta.total !== this.total) {
      throw new Error(`There are ${list.meta.total} orders, ${this.total} were expected`);
    }
    const unacknowledged = this.sent.filter(({ received }) => received === undefined).length;
    const acknowledged = this.sent.length - unacknowledged;
    this.sent = [];
    return { acknowledged, unacknowledged, replayed };
  }

  private async createOrders(load: Load): Promise<void> {
    for (;;) {
      const order: Sent = { key: randomUUID() };
      this.sent.push(order);
      const received = await send(load, 201, '/v1/orders', request(order));
      if (received === 'killed') return;
      order.received = received;
    }
  }
}

const request = ({ key }: Sent): RequestInit => ({
  method: 'POST',
  headers: { 'idempotency-key': key },
  body: JSON.stringify({ of: key }),
});
