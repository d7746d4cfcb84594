import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import type {
  ApolloServerPlugin,
  BaseContext,
  GraphQLRequestContextDidResolveOperation,
  GraphQLRequestListener,
} from '@apollo/server';
import { Plugin } from '@nestjs/apollo';
import { Module } from '@nestjs/common';
import { Field, GraphQLSchemaHost, Int, ObjectType, Query, Resolver } from '@nestjs/graphql';
import { GraphQLError } from 'graphql';
import { fieldExtensionsEstimator, getComplexity, simpleEstimator } from 'graphql-query-complexity';
import { Public } from '../../../src/platform/access/index.js';
import { startApi } from '../../support/api.js';
import { onEach } from '../../support/on-each.js';

@ObjectType()
class Product {
  @Field(() => Int, { complexity: 3 })
  price!: number;
}

@Resolver(() => Product)
@Public()
class ProductsResolver {
  @Query(() => [Product], {
    complexity: ({ args, childComplexity }: any) => (args.count ?? 2) * childComplexity,
  })
  products(): Product[] {
    return [{ price: 1 }, { price: 2 }];
  }
}

@Plugin()
class LoggingPlugin implements ApolloServerPlugin {
  readonly seen: string[] = [];

  async requestDidStart(): Promise<GraphQLRequestListener<BaseContext>> {
    const { seen } = this;
    seen.push('start');
    return {
      async willSendResponse({ response, operationName }) {
        seen.push(`send ${operationName}`);
        response.http.headers.set('x-plugin', 'was here');
      },
      async executionDidStart() {
        return { willResolveField: ({ info }) => void seen.push(`field ${info.fieldName}`) };
      },
    };
  }
}

@Plugin()
class ComplexityPlugin implements ApolloServerPlugin {
  constructor(private readonly schemaHost: GraphQLSchemaHost) {}

  async requestDidStart(): Promise<GraphQLRequestListener<BaseContext>> {
    const { schemaHost } = this;
    return {
      async didResolveOperation({
        request,
        document,
      }: GraphQLRequestContextDidResolveOperation<BaseContext>) {
        const complexity = getComplexity({
          schema: schemaHost.schema,
          operationName: request.operationName!,
          query: document,
          variables: request.variables!,
          estimators: [fieldExtensionsEstimator(), simpleEstimator({ defaultComplexity: 1 })],
        });
        if (complexity > 20) {
          throw new GraphQLError(`Query is too complex: ${complexity}. Maximum allowed complexity: 20`);
        }
      },
    };
  }
}

@Module({ providers: [ProductsResolver, LoggingPlugin, ComplexityPlugin] })
class ProductsModule {}

const SETTINGS = { GRAPHQL_PERSISTED_QUERIES: 'on' };
onEach('Apollo Server as documented', { settings: SETTINGS, modules: [ProductsModule] }, ({ api, store }) => {
  it('calls @Plugin() classes', async () => {
    const reply = await api.graphql('query Named { products { price } }');

    expect(reply.headers['x-plugin']).toBe('was here');
    expect(api.app.get(LoggingPlugin, { strict: false }).seen).toEqual([
      'start',
      'field products',
      'field price',
      'field price',
      'send Named',
    ]);
  });

  it('lets a plugin reject an operation that is too complex', async () => {
    const fine = await api.graphql('{ products { price } }');
    const rejected = await api.graphql('{ products { a: price b: price c: price d: price } }');

    expect(fine.body.data.products).toHaveLength(2);
    expect(rejected.body).toEqual({
      errors: [
        {
          message: 'Query is too complex: 24. Maximum allowed complexity: 20',
          extensions: { code: 'BAD_USER_INPUT', requestId: expect.any(String) },
        },
      ],
    });
  });

  it('counts the complexity of fields against the limit of the service, too', async () => {
    const { body } = await api.graphql('{ products { price } }', {}, { 'graphql-cost': '1' });

    expect(body.extensions.cost.objects).toBe(6);
  });

  it('supports persisted queries', async () => {
    const query = '{ products { price } } # persisted';
    const sha256Hash = createHash('sha256').update(query).digest('hex');
    const extensions = { persistedQuery: { version: 1, sha256Hash } };

    expect((await api.post('/graphql', { extensions })).body.errors[0]).toMatchObject({
      message: 'PersistedQueryNotFound',
      extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' },
    });
    expect((await api.post('/graphql', { query, extensions })).body.data.products).toHaveLength(2);
    expect((await api.post('/graphql', { extensions })).body.data.products).toHaveLength(2);
    const url = `/graphql?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;
    expect((await api.get(url, { 'apollo-require-preflight': '1' })).body.data.products).toHaveLength(2);
    expect(await api.post('/graphql', { query: `${query}x`, extensions })).toHaveStatus(400);
  });

  it('rejects persisted queries by default', async () => {
    const other = await startApi(store);
    const extensions = { persistedQuery: { version: 1, sha256Hash: 'x' } };
    const { body } = await other.post('/graphql', { extensions });
    await other.stop();

    expect(body.errors[0].extensions.code).toBe('PERSISTED_QUERY_NOT_SUPPORTED');
  });
});
