import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ApolloFederationDriver, type ApolloFederationDriverConfig } from '@nestjs/apollo';
import { Global, Injectable, Module } from '@nestjs/common';
import {
  Directive,
  Field,
  GraphQLModule,
  ID,
  ObjectType,
  Query,
  Resolver,
  ResolveReference,
} from '@nestjs/graphql';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { appOptions, initApp } from '../../../src/app.js';
import { AppModule } from '../../../src/app.module.js';
import { Public } from '../../../src/platform/access/index.js';
import { AuthModule } from '../../../src/auth/auth.module.js';
import { createFastifyAdapter } from '../../../src/platform/http/edge/fastify-adapter.js';
import { loadConfig } from '../../../src/platform/config/load-config.js';
import { GraphqlModule } from '../../../src/platform/graphql/graphql.module.js';
import { GraphqlOptions } from '../../../src/platform/graphql/graphql.options.js';
import { FixtureModule } from '../../support/fixture.module.js';
import { createStore, STORES, type TestStore } from '../../support/stores.js';

@ObjectType()
@Directive('@key(fields: "id")')
class Parcel {
  @Field(() => ID)
  id!: string;
}

@Resolver(() => Parcel)
@Public()
class ParcelsResolver {
  @Query(() => Parcel)
  parcel(): Parcel {
    return { id: '1' };
  }

  @ResolveReference()
  resolveReference({ id }: Parcel): Parcel {
    return { id: `${id}!` };
  }
}

@ObjectType()
@Directive('@key(fields: "id")')
class Secret {
  @Field(() => ID)
  id!: string;
}

/** Requires an account, because no decorator says otherwise. */
@Resolver(() => Secret)
class SecretsResolver {
  @Query(() => Secret)
  secret(): Secret {
    return { id: '1' };
  }

  @ResolveReference()
  resolveReference({ id }: Secret): Secret {
    return { id };
  }
}

@Module({ providers: [ParcelsResolver, SecretsResolver] })
class ParcelsModule {}

@Injectable()
class SubgraphOptions extends GraphqlOptions {
  override createGqlOptions() {
    return { ...super.createGqlOptions(), autoSchemaFile: { federation: 2 as const } };
  }
}

@Global()
@Module({
  imports: [
    AuthModule,
    GraphQLModule.forRootAsync<ApolloFederationDriverConfig>({
      driver: ApolloFederationDriver,
      imports: [AuthModule],
      useClass: SubgraphOptions,
    }),
  ],
  exports: [GraphQLModule],
})
class SubgraphModule {}

describe.each(STORES)('a federated subgraph on %s', (store) => {
  let app: NestFastifyApplication;
  let testStore: TestStore;
  beforeAll(async () => {
    testStore = await createStore(store);
    const config = loadConfig({ NODE_ENV: 'test', LOG_LEVEL: 'silent', ...testStore.environment });
    const module = await Test.createTestingModule({
      imports: [AppModule.with(config, [ParcelsModule, FixtureModule])],
    })
      .overrideModule(GraphqlModule)
      .useModule(SubgraphModule)
      .compile();
    app = await initApp(
      module.createNestApplication<NestFastifyApplication>(createFastifyAdapter(config), appOptions(config)),
    );
  });
  afterAll(async () => {
    await app.close();
    await testStore.remove();
  });

  const run = async (query: string, variables = {}) =>
    (await app.inject({ method: 'POST', url: '/graphql', payload: { query, variables } })).json();

  it('serves its SDL and the whole schema', async () => {
    expect((await run('{ service: _service { sdl } }')).data.service.sdl).toContain('type Parcel');
    expect((await run('{ dummies { totalCount } parcel { id } }')).data).toEqual({
      dummies: { totalCount: 0 },
      parcel: { id: '1' },
    });
  });

  it('resolves references, subject to access control', async () => {
    const entities =
      'query ($of: [_Any!]!) { entities: _entities(representations: $of) { ... on Parcel { id } } }';

    expect((await run(entities, { of: [{ __typename: 'Parcel', id: '7' }] })).data.entities).toEqual([
      { id: '7!' },
    ]);
    expect((await run(entities, { of: [{ __typename: 'Secret', id: '7' }] })).errors[0].extensions.code).toBe(
      'UNAUTHENTICATED',
    );
  });
});
