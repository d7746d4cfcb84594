import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Module } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { AuthModule } from '../auth/auth.module.js';
import { GraphqlOptions } from './graphql.options.js';
import { SubscriptionServer } from './subscriptions/subscription-server.js';

/** Serves `/graphql`. Every module brings its own types and resolvers. */
@Module({
  imports: [
    AuthModule,
    GraphQLModule.forRootAsync<ApolloDriverConfig>({
      driver: ApolloDriver,
      imports: [AuthModule],
      useClass: GraphqlOptions,
    }),
  ],
  providers: [SubscriptionServer],
})
export class GraphqlModule {}
