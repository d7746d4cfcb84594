import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { Config } from '../../config/config.js';
import { Queries } from '../../database/queries.js';
import { EventFilter } from '../event-filter.js';
import { EventLog } from '../event-log.js';
import { EventStore } from '../event-store.js';
import type { StoredEvent } from '../stored-event.js';
import { OnDurableEvent, type SubscriberOptions } from './event-subscriber.js';
import { SubscriberPositions } from './subscriber-positions.js';
import { Subscription, type Subscriber } from './subscription.js';

type Handler = (event: StoredEvent) => unknown;

type Registration = SubscriberOptions & Pick<Subscriber, 'process' | 'isIdle'>;

/** Between two attempts to start, in milliseconds. */
const RETRY_INTERVAL = 1000;

/** Runs the durable subscribers of all modules. */
@Injectable()
export class Subscribers implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Events');
  private readonly subscriptions = new Map<string, Subscription>();
  private readonly registered: Registration[] = [];

  /** The filter of each subscriber that has started, by its name. */
  readonly filters = new Map<string, EventFilter>();
  private timer: NodeJS.Timeout | undefined;
  private retrying: Promise<void> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly queries: Queries,
    private readonly log: EventLog,
    private readonly store: EventStore,
    private readonly positions: SubscriberPositions,
    private readonly config: Config,
  ) {}

  /** For a subscriber that handles many events at once; call it before the application starts. */
  register(subscriber: Registration): void {
    this.registered.push(subscriber);
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.config.serves) return;
    const subscribers = [...this.registered, ...this.findHandlers()];
    const names = subscribers.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined)
      throw new Error(`Two subscribers are named ${twice}; each needs a name of its own`);
    await this.startAll(subscribers).catch((error: unknown) => {
      this.logger.warn({ msg: 'Subscribers of events cannot be started yet', err: error });
      this.retry(subscribers);
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearTimeout(this.timer);
    await this.retrying;
    await Promise.all([...this.subscriptions.values()].map((subscription) => subscription.stop()));
  }

  /** The migrations may run while the process waits for them. */
  private retry(subscribers: readonly Registration[]): void {
    this.timer = setTimeout(() => {
      this.retrying = this.startAll(subscribers).catch(() => this.retry(subscribers));
    }, RETRY_INTERVAL).unref();
  }

  private async startAll(subscribers: readonly Registration[]): Promise<void> {
    if (this.queries.dialect.hasOneProcess) await this.positions.releaseAll();
    const last = await this.log.catchUp();
    for (const subscriber of subscribers) {
      if (!this.subscriptions.has(subscriber.name)) await this.start(subscriber, last);
    }
  }

  private async start(
    { name, types, from = 'now', process, isIdle }: Registration,
    last: number,
  ): Promise<void> {
    await this.positions.add(name, from === 'start' ? 0 : last);
    const filter = new EventFilter('everything', types);
    this.filters.set(name, filter);
    const { log, store, positions, logger } = this;
    this.subscriptions.set(
      name,
      new Subscription({ name, filter, process, isIdle }, { log, store, positions, logger }),
    );
  }

  /** The decorated methods. */
  private findHandlers(): Registration[] {
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
