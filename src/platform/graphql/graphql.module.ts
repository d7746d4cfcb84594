import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Global, Module } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { GraphqlOptions } from './graphql.options.js';
import { SubscriptionServer } from './subscriptions/subscription-server.js';

/**
 * Serves `/graphql`. Every module has its own types, resolvers and plugins, and may inject the
 * exports of `GraphQLModule`, such as `GraphQLSchemaHost`.
 */
@Global()
@Module({
  imports: [
    GraphQLModule.forRootAsync<ApolloDriverConfig>({
      driver: ApolloDriver,
      useClass: GraphqlOptions,
    }),
  ],
  exports: [GraphQLModule],
  providers: [SubscriptionServer],
})
export class GraphqlModule {}
