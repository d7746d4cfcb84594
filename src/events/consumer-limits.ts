import { Injectable } from '@nestjs/common';
import { AppError } from '../common/errors/errors.js';
import { networkOf } from '../common/request/client.js';

/** Consumers that are connected at the same time. */
export const CONSUMER_LIMITS = { process: 1000, client: 50 };

/** How many consumers may be connected: streams, and subscriptions over GraphQL. */
@Injectable()
export class ConsumerLimits {
  private count = 0;
  private readonly byClient = new Map<string, number>();

  get size(): number {
    return this.count;
  }

  /**
   * Takes a place.
   *
   * @param address of the client; an IPv6 client is its /64
   * @returns what gives the place back
   * @throws AppError `SERVICE_UNAVAILABLE`
   */
  enter(address: string): () => void {
    const client = networkOf(address);
    const own = this.byClient.get(client) ?? 0;
    if (own >= CONSUMER_LIMITS.client) throw new AppError('SERVICE_UNAVAILABLE', TOO_MANY.client);
    if (this.count >= CONSUMER_LIMITS.process) throw new AppError('SERVICE_UNAVAILABLE', TOO_MANY.process);
    this.count++;
    this.byClient.set(client, own + 1);
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.count--;
      const rest = this.byClient.get(client)! - 1;
      if (rest === 0) this.byClient.delete(client);
      else this.byClient.set(client, rest);
    };
  }
}

const TOO_MANY = {
  client: `A client may have ${CONSUMER_LIMITS.client} streams of events; close one before you open another`,
  process: `This process has ${CONSUMER_LIMITS.process} streams of events, which is all it takes; retry later`,
};
