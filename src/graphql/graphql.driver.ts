import { Injectable } from '@nestjs/common';
import { AbstractGraphQLDriver, type GqlModuleOptions } from '@nestjs/graphql';
import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import { Authenticator } from '../auth/access/index.js';
import { Config } from '../config/config.js';
import { GraphqlHandler } from './graphql-handler.js';
import { servePlayground } from './playground.js';

/** Serves the schema that `@nestjs/graphql` makes of the resolvers, on the Fastify that serves everything else. */
@Injectable()
export class GraphqlDriver extends AbstractGraphQLDriver {
  constructor(
    private readonly config: Config,
    private readonly authenticator: Authenticator,
  ) {
    super();
  }

  async start({ schema, path }: GqlModuleOptions & { schema: GraphQLSchema }): Promise<void> {
    const fastify = this.httpAdapterHost.httpAdapter.getInstance<FastifyInstance>();
    const handler = new GraphqlHandler(schema, this.config.graphql, this.authenticator);
    fastify.post(path!, (request, reply) => handler.handle(request, reply));
    if (this.config.graphql.playground) servePlayground(fastify, path!);
  }

  async stop(): Promise<void> {
    // Fastify closes with the application.
  }
}
