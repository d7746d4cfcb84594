import { Module, type OnApplicationBootstrap } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { DataSource, type EntitySubscriberInterface } from 'typeorm';

/** The methods that TypeORM calls; `listenTo` alone makes no subscriber. */
const EVENTS = [
  'afterLoad',
  ...(['Query', 'Insert', 'Update', 'Remove', 'SoftRemove', 'Recover'] as const).flatMap(around),
  ...(['TransactionStart', 'TransactionCommit', 'TransactionRollback'] as const).flatMap(around),
] as const satisfies readonly (keyof EntitySubscriberInterface)[];

/** Registers the subscribers of TypeORM among the providers. */
@Module({ imports: [DiscoveryModule] })
export class SubscribersModule implements OnApplicationBootstrap {
  constructor(
    private readonly source: DataSource,
    private readonly discovery: DiscoveryService,
  ) {}

  /**
   * Registers every provider that is a subscriber, unless it has registered itself (`dataSource.subscribers.push(this)`).
   *
   * @throws Error if a subscriber is no singleton: its events belong to no request
   */
  onApplicationBootstrap(): void {
    const { subscribers } = this.source;
    for (const wrapper of this.discovery.getProviders()) {
      const instance: unknown = wrapper.instance;
      if (!isSubscriber(instance)) continue;
      if (wrapper.isTransient || !wrapper.isDependencyTreeStatic()) {
        throw new Error(
          `${String(wrapper.name)} is a subscriber of TypeORM, which must be a singleton (decision 22)`,
        );
      }
      if (!subscribers.includes(instance)) subscribers.push(instance);
    }
  }
}

const isSubscriber = (instance: unknown): instance is EntitySubscriberInterface =>
  typeof instance === 'object' &&
  instance !== null &&
  EVENTS.some((event) => typeof (instance as EntitySubscriberInterface)[event] === 'function');

function around<Event extends string>(event: Event): [`before${Event}`, `after${Event}`] {
  return [`before${event}`, `after${event}`];
}
