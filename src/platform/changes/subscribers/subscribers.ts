import { Injectable, Logger } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { BackgroundTasks } from '../../jobs/background-task.js';
import { EventLog } from '../event-log.js';
import { EventStore } from '../event-store.js';
import type { StoredEvent } from '../stored-event.js';
import { OnDurableEvent, type Subscriber, Subscription } from './subscription.js';
import { SubscriberPositions } from './subscriber-positions.js';

type Handler = (event: StoredEvent) => unknown;

/** Runs the durable subscribers of all modules. */
@Injectable()
export class Subscribers {
  private readonly logger = new Logger('Events');
  private readonly registered: Subscriber[] = [];

  readonly subscriptions = new Map<string, Subscription>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly log: EventLog,
    private readonly store: EventStore,
    private readonly positions: SubscriberPositions,
    private readonly tasks: BackgroundTasks,
  ) {
    tasks.add(this);
  }

  /** For a subscriber that handles many events at once; call it before the application starts. */
  register(subscriber: Subscriber): void {
    this.registered.push(subscriber);
  }

  /** Adds the task of each subscriber. */
  start(): void {
    const { tasks, log, store, positions, logger, subscriptions } = this;
    for (const subscriber of [...this.registered, ...this.findHandlers()]) {
      const { name } = subscriber;
      if (subscriptions.has(name))
        throw new Error(`Two subscribers are named ${name}; each needs a name of its own`);
      subscriptions.set(name, new Subscription(subscriber, { tasks, log, store, positions, logger }));
    }
  }

  private findHandlers(): Subscriber[] {
    const scanner = new MetadataScanner();
    return this.discovery.getProviders().flatMap((wrapper) => {
      const instance = wrapper.instance as Record<string, Handler> | null | undefined;
      if (typeof instance !== 'object' || instance === null || !wrapper.isDependencyTreeStatic()) return [];
      return scanner.getAllMethodNames(Object.getPrototypeOf(instance) as object).flatMap((method) => {
        const options = this.discovery.getMetadataByDecorator(OnDurableEvent, wrapper, method);
        return options ? [{ ...options, process: oneByOne((event) => instance[method]!(event)) }] : [];
      });
    });
  }
}

const oneByOne =
  (handler: Handler): Subscriber['process'] =>
  async (events, advance) => {
    for (const event of events) {
      await handler(event);
      if (!(await advance(event.position))) return;
    }
  };
