import { DiscoveryService } from '@nestjs/core';

export interface SubscriberOptions {
  /** Under which its position is kept: unique, and never changed. */
  readonly name: string;
  /** Absent: all. */
  readonly types?: readonly string[];
  /** Where a new subscriber starts: with the next event, or with the oldest that is kept. */
  readonly from?: 'now' | 'start';
}

/**
 * Marks a method of a provider as a durable subscriber: it gets each event at least once, in order, on one replica at a
 * time, across restarts. While it throws, the event is retried with backoff, and later ones wait; other subscribers go on.
 */
export const OnDurableEvent = DiscoveryService.createDecorator<SubscriberOptions>();
