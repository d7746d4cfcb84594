import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { ApolloDriverConfig } from '@nestjs/apollo';
import { Injectable, Logger } from '@nestjs/common';
import type { GqlOptionsFactory } from '@nestjs/graphql';
import type { GraphQLSchema } from 'graphql';
import { Authenticator } from '../auth/access/index.js';
import { stringifyWithoutCopies } from '../common/http/json-text.js';
import { Metrics } from '../common/ports/metrics.js';
import { Config } from '../config/config.js';
import { auditPlugin } from './audit.plugin.js';
import { createContext } from './create-context.js';
import { DocumentStore } from './document-store.js';
import { createFormatError } from './graphql-errors.js';
import { httpPlugin } from './http.plugin.js';
import { metricsPlugin } from './metrics.plugin.js';
import { costPlugin } from './limits/cost.plugin.js';
import { noIntrospectionRule } from './limits/introspection.rule.js';
import { shapeRule } from './limits/shape.rule.js';
import { queriesPlugin } from './queries.plugin.js';
import { tracingPlugin } from './tracing.plugin.js';
import { PATH } from './route.js';

/** The options of Apollo Server. */
@Injectable()
export class GraphqlOptions implements GqlOptionsFactory<Omit<ApolloDriverConfig, 'driver'>> {
  readonly documents = new DocumentStore();

  constructor(
    private readonly config: Config,
    private readonly authenticator: Authenticator,
    private readonly metrics: Metrics,
  ) {}

  createGqlOptions(): Omit<ApolloDriverConfig, 'driver'> {
    const { graphql, production } = this.config;
    const { documents } = this;
    return {
      path: PATH,
      autoSchemaFile: true,
      transformSchema: describeRootTypes,
      context: createContext(this.authenticator),
      fieldResolverEnhancers: ['guards', 'interceptors', 'filters'],

      formatError: createFormatError(graphql),
      // The table of errors decides the status, not Nest or the resolver.
      autoTransformHttpErrors: false,
      preserveHttpStatusForExecutionErrors: false,
      includeStacktraceInErrorResponses: false,

      parseOptions: { maxTokens: graphql.limits.tokens },
      validationRules: [shapeRule(graphql.limits), ...(graphql.introspection ? [] : [noIntrospectionRule])],
      validationOptions: { hideSuggestions: !graphql.suggestions },
      // Apollo's rule would come in addition to ours.
      introspection: true,
      documentStore: documents,
      persistedQueries: graphql.persistedQueries && { cache: documents },

      // GraphiQL is served by this process, not by a CDN.
      graphiql: false,
      stringifyResult: stringifyWithoutCopies,
      nodeEnv: production ? 'production' : 'development',
      logger: apolloLogger(),
      // Apollo serves until the HTTP server is closed.
      stopOnApplicationShutdown: true,
      stopOnTerminationSignals: false,
      plugins: [
        httpPlugin,
        auditPlugin,
        queriesPlugin,
        ...(this.metrics.enabled ? [metricsPlugin(this.metrics)] : []),
        ...(this.config.tracing ? [tracingPlugin] : []),
        costPlugin(graphql.limits.cost),
        ApolloServerPluginCacheControlDisabled(),
        ApolloServerPluginInlineTraceDisabled(),
        ApolloServerPluginSchemaReportingDisabled(),
        ApolloServerPluginUsageReportingDisabled(),
      ],
    };
  }
}

const ROOT_TYPES = {
  Query: 'What can be read.',
  Mutation: 'What can be changed.',
  Subscription: 'What can be followed, over WebSocket.',
};

/** Nest's decorators describe all other types. */
function describeRootTypes(schema: GraphQLSchema): GraphQLSchema {
  for (const [name, description] of Object.entries(ROOT_TYPES)) {
    const type = schema.getType(name);
    if (type) type.description = description;
  }
  return schema;
}

function apolloLogger() {
  const logger = new Logger('Apollo');
  return {
    debug: (message?: unknown) => logger.debug(message),
    info: (message?: unknown) => logger.log(message),
    warn: (message?: unknown) => logger.warn(message),
    error: (message?: unknown) => logger.error(message),
  };
}
