import { randomUUID } from 'node:crypto';
import type { Service } from '../support/service.ts';
import { type Load, send } from './load.ts';

const CLIENTS = 8;

/** A ticket, and the response if there was one. */
interface Sent {
  readonly key: string;
  received?: string;
}

interface Outcome {
  readonly acknowledged: number;
  /** Number of tickets in flight when the service was killed, and number of these that were created. */
  readonly unacknowledged: number;
  readonly replayed: number;
}

/**
 * Creates tickets with keys until the service is killed. Then it sends each of them again with its key: acknowledged ones must get
 * the same response, and those in flight are created unless they already exist.
 */
export class KeyedWrites {
  private sent: Sent[] = [];
  /** The expected number of tickets of all rounds. */
  private total = 0;

  async run(load: Load): Promise<void> {
    await Promise.all(Array.from({ length: CLIENTS }, () => this.createTickets(load)));
  }

  /** Number of tickets acknowledged since the last check. */
  get acknowledged(): number {
    return this.sent.filter(({ received }) => received !== undefined).length;
  }

  async verify(service: Service): Promise<Outcome> {
    let replayed = 0;
    for (const ticket of this.sent) {
      const reply = await service.fetch('/v1/tickets', request(ticket));
      const received = await reply.text();
      const isReplay = reply.headers.get('idempotent-replayed') === 'true';
      if (reply.status !== 201) throw new Error(`A retry got ${reply.status}: ${received}`);
      if (ticket.received !== undefined && (ticket.received !== received || !isReplay)) {
        throw new Error(`A ticket got ${ticket.received}, and its retry ${received}`);
      }
      if (ticket.received === undefined && isReplay) replayed++;
    }
    this.total += this.sent.length;
    const list = (await (await service.fetch('/v1/tickets')).json()) as { meta: { total: number } };
    if (list.meta.total !== this.total) {
      throw new Error(`There are ${list.meta.total} tickets, ${this.total} were expected`);
    }
    const unacknowledged = this.sent.filter(({ received }) => received === undefined).length;
    const acknowledged = this.sent.length - unacknowledged;
    this.sent = [];
    return { acknowledged, unacknowledged, replayed };
  }

  private async createTickets(load: Load): Promise<void> {
    for (;;) {
      const ticket: Sent = { key: randomUUID() };
      this.sent.push(ticket);
      const received = await send(load, 201, '/v1/tickets', request(ticket));
      if (received === 'killed') return;
      ticket.received = received;
    }
  }
}

const request = ({ key }: Sent): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'idempotency-key': key },
  body: JSON.stringify({ name: key }),
});
