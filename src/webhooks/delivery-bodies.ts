import { setImmediate } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Config } from '../platform/config/config.js';
import { eventId as idOf, toJson } from '../platform/changes/index.js';
import type { ClaimedDelivery } from './delivery-queue.js';
import { KeptEvents } from './kept-events.js';

interface SharedBody {
  users: number;
  readonly body: Promise<Buffer | undefined>;
}

/** The bodies of attempts in progress. All webhooks that get the same event share its bytes. */
@Injectable()
export class DeliveryBodies {
  private readonly bodies = new Map<string, SharedBody>();
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly events: KeptEvents,
    private readonly config: Config,
  ) {}

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
      const body = await this.read(delivery);
      return body === undefined ? undefined : Buffer.from(body);
    });
    this.last = loading.catch(() => undefined);
    return loading;
  }

  private async read({ body, position }: ClaimedDelivery): Promise<string | undefined> {
    if (body !== null || position === null) return body ?? undefined;
    const event = await this.events.find(position);
    return event && toJson({ ...event, id: idOf(event), source: this.config.publicUrl });
  }
}
