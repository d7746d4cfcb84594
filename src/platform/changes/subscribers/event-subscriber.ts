import { DiscoveryService } from '@nestjs/core';

export interface SubscriberOptions {
  /** The name under which its position is stored: unique, and never changed. */
  readonly name: string;
  /** Undefined: all. */
  readonly types?: readonly string[];
  /** The start of a new subscriber: with the next event, or with the oldest kept one. */
  readonly from?: 'now' | 'start';
}

/**
 * Marks a method of a provider as a durable subscriber: it gets each event at least once, in order, on one replica at a
 * time, across restarts. While it throws, the event is retried with backoff, and later ones wait; other subscribers go on.
 */
export const OnDurableEvent = DiscoveryService.createDecorator<SubscriberOptions>();
