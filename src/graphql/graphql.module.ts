import { Module } from '@nestjs/common';
import { GraphQLModule } from '@nestjs/graphql';
import { AuthModule } from '../auth/auth.module.js';
import { GraphqlDriver } from './graphql.driver.js';

/** Serves `/graphql`. Every module brings its own types and resolvers. */
@Module({
  imports: [
    GraphQLModule.forRootAsync({
      driver: GraphqlDriver,
      imports: [AuthModule],
      useFactory: () => ({ path: '/graphql', autoSchemaFile: true }),
    }),
  ],
})
export class GraphqlModule {}
