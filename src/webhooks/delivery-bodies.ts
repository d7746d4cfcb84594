import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { type ClaimedDelivery, DeliveryQueue } from './delivery-queue.js';

interface SharedBody {
  users: number;
  readonly body: Promise<Buffer | undefined>;
}

/** The bodies of attempts in progress. All webhooks that get the same event share its bytes. */
@Injectable()
export class DeliveryBodies {
  private readonly bodies = new Map<string, SharedBody>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly queue: DeliveryQueue) {}

  /** Calls `send` with the body of a delivery, `undefined` for a purged event. */
  async with<T>(delivery: ClaimedDelivery, send: (body: Buffer | undefined) => Promise<T>): Promise<T> {
    const { eventId } = delivery;
    let shared = this.bodies.get(eventId);
    if (!shared) this.bodies.set(eventId, (shared = { users: 0, body: this.load(delivery) }));
    shared.users++;
    try {
      return await send(await shared.body);
    } finally {
      if (--shared.users === 0) this.bodies.delete(eventId);
    }
  }

  /** One at a time: many large events at once would delay requests. */
  private load(delivery: ClaimedDelivery): Promise<Buffer | undefined> {
    const loading = this.last.then(async () => {
      await setImmediate();
      const body = await this.queue.bodyOf(delivery);
      return body === undefined ? undefined : Buffer.from(body);
    });
    this.last = loading.catch(() => undefined);
    return loading;
  }
}
