import { Module } from '@nestjs/common';
import { Int, Resolver, Subscription } from '@nestjs/graphql';
import { PubSub } from 'graphql-subscriptions';
import { Public } from '../../src/platform/access/index.js';

const pubSub = new PubSub();

/** Sends a value to each client that has subscribed. */
export const tick = (): Promise<void> => pubSub.publish('tick', { ticks: 1 });

@Resolver()
@Public()
class TicksResolver {
  @Subscription(() => Int)
  ticks() {
    return pubSub.asyncIterableIterator('tick');
  }
}

/** `subscription { ticks }`, which sends nothing by itself. */
@Module({ providers: [TicksResolver] })
export class TicksModule {}
