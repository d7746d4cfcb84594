import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Injectable, Module, Req, type Type, UseGuards } from '@nestjs/common';
import { Field, ObjectType, Query, Resolver } from '@nestjs/graphql';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import { TypeOrmModule } from '@nestjs/typeorm';
import type { FastifyRequest } from 'fastify';
import { Gauge, Registry } from 'prom-client';
import { EntitySchema } from 'typeorm';
import { Public, RequestStrategy } from '../src/platform/access/index.js';
import { ChangesModule, defineEvents, OnDurableEvent } from '../src/platform/changes/index.js';
import { explainStartFailure } from '../src/platform/operations/start-failure.js';
import { startApi } from './support/api.js';
import { FixtureModule } from './support/fixture.module.js';
import { ANY_STORE, STORES } from './support/stores.js';

const LETTER = new EntitySchema({
  name: 'Letter',
  tableName: 'mails',
  columns: { id: { type: 'int', primary: true } },
});

@Module({ imports: [TypeOrmModule.forFeature([LETTER])] })
class TableTwiceModule {}

@ObjectType('Dummy')
class OtherDummy {
  @Field()
  name!: string;
}

const EVENTS = defineEvents({ resource: 'dummy', changes: ['created'], view: OtherDummy });

@Module({ imports: [ChangesModule.forFeature(EVENTS)] })
class EventTwiceModule {}

@Resolver()
class OtherDummyResolver {
  @Query(() => OtherDummy)
  otherDummy(): OtherDummy {
    return { name: '' };
  }
}

@Module({ providers: [OtherDummyResolver] })
class TypeTwiceModule {}

@Resolver()
class OtherMeResolver {
  @Query(() => String, { name: 'me' })
  other(): string {
    return '';
  }
}

@Module({ providers: [OtherMeResolver] })
class QueryTwiceModule {}

@Controller({ path: 'dummies', version: '1' })
class OtherDummiesController {
  @Get()
  list(): object {
    return {};
  }
}

@Module({ controllers: [OtherDummiesController] })
class RouteTwiceModule {}

@Injectable()
class SameSubscribers {
  @OnDurableEvent({ name: 'same', types: ['dummy.*'] })
  async first(): Promise<void> {}

  @OnDurableEvent({ name: 'same', types: ['stub.*'] })
  async second(): Promise<void> {}
}

@Module({ providers: [SameSubscribers] })
class SubscriberTwiceModule {}

@Module({})
class MetricTwiceModule {
  constructor(registry: Registry) {
    const name = 'password_hashing_running';
    void new Gauge({ name, help: 'Of somebody else', registers: [registry] });
  }
}

describe('a name that is taken twice stops the start', () => {
  it.each<[string, Type, string]>([
    ['an event', EventTwiceModule, 'The event dummy.created is defined twice'],
    ['a table', TableTwiceModule, 'The entities OutboxMail and Letter have the same table, mails'],
    ['a GraphQL type', TypeTwiceModule, 'multiple types named "Dummy"'],
    ['a query', QueryTwiceModule, 'The GraphQL operation Query.me is defined twice'],
    ['a route', RouteTwiceModule, "Method 'GET' already declared for route '/v1/dummies'"],
    ['a durable subscriber', SubscriberTwiceModule, 'Two subscribers are named same'],
    ['a metric', MetricTwiceModule, 'password_hashing_running has already been registered'],
  ])('%s', async (_, module, sentence) => {
    const error = await startApi(ANY_STORE, {}, [FixtureModule, module]).catch((thrown: unknown) => thrown);

    expect(explainStartFailure(error)).toContain(sentence);
  });
});

@Injectable()
class PartnerKeyStrategy extends PassportStrategy(RequestStrategy, 'api-key') {
  validate({ headers }: FastifyRequest): object | null {
    return headers['x-api-key'] === 'partner' ? { partner: true } : null;
  }
}

@Controller('partners')
class PartnersController {
  @Get('me')
  @Public()
  @UseGuards(AuthGuard('api-key'))
  me(@Req() { user }: { user: object }): object {
    return user;
  }
}

@Module({ controllers: [PartnersController], providers: [PartnerKeyStrategy] })
class PartnersModule {}

it.each(STORES)('a strategy named api-key is the application’s own, on %s', async (store) => {
  const api = await startApi(store, {}, [PartnersModule]);

  expect((await api.get('/partners/me', { 'x-api-key': 'partner' })).body).toEqual({ partner: true });
  expect(await api.get('/partners/me', { authorization: 'Bearer psk_x' })).toBeError('UNAUTHENTICATED');
  await api.stop();
});
