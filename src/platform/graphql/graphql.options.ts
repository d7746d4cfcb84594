import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import { InMemoryLRUCache } from '@apollo/utils.keyvaluecache';
import type { ApolloDriverConfig } from '@nestjs/apollo';
import { Injectable, Logger } from '@nestjs/common';
import type { GqlOptionsFactory } from '@nestjs/graphql';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { Registry } from 'prom-client';
import { Authenticator } from '../access/index.js';
import { stringifyWithoutCopies } from '../http/json-text.js';
import { Config } from '../config/config.js';
import { createContext } from './context.js';
import { createFormatError } from './graphql-errors.js';
import { httpPlugin, metricsPlugin, operationPlugin } from './plugins.js';
import { costPlugin } from './limits/cost.plugin.js';
import { noIntrospectionRule, shapeRule } from './limits/rules.js';
import { PATH } from './route.js';

const MiB = 1024 * 1024;

/** The heap of a syntax tree for each token of its text (measured: 300 to 400 bytes). */
const BYTES_PER_TOKEN = 400;

/** The heap of an entry of a cache besides its value. */
const BYTES_PER_ENTRY = 500;

/** The options of Apollo Server. */
@Injectable()
export class GraphqlOptions implements GqlOptionsFactory<Omit<ApolloDriverConfig, 'driver'>> {
  /** Apollo's default counts the JSON of a document, without its text: comments would make it unbounded. */
  readonly documents = new InMemoryLRUCache<DocumentNode>({
    maxSize: 28 * MiB,
    sizeCalculation: bytesOfDocument,
  });
  private readonly persistedQueries = new InMemoryLRUCache({
    maxSize: 4 * MiB,
    sizeCalculation: bytesOfText,
  });

  constructor(
    private readonly config: Config,
    private readonly authenticator: Authenticator,
    private readonly registry: Registry,
  ) {}

  createGqlOptions(): Omit<ApolloDriverConfig, 'driver'> {
    const { graphql, production, metricsPort } = this.config;
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
      documentStore: this.documents,
      persistedQueries: graphql.persistedQueries && { cache: this.persistedQueries },

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
        operationPlugin,
        ...(metricsPort === undefined ? [] : [metricsPlugin(this.registry)]),
        costPlugin(graphql.limits.cost),
        ApolloServerPluginCacheControlDisabled(),
        ApolloServerPluginInlineTraceDisabled(),
        ApolloServerPluginSchemaReportingDisabled(),
        ApolloServerPluginUsageReportingDisabled(),
      ],
    };
  }
}

/** One character beyond Latin-1 makes a text take two bytes for each character. */
const bytesOfText = (text: string): number => BYTES_PER_ENTRY + 2 * text.length;

const bytesOfDocument = ({ loc, tokenCount = 0 }: DocumentNode): number =>
  bytesOfText(loc?.source.body ?? '') + BYTES_PER_TOKEN * tokenCount;

const ROOT_TYPES = {
  Query: 'What can be read.',
  Mutation: 'What can be changed.',
};

/** Nest's decorators describe all other types. */
function describeRootTypes(schema: GraphQLSchema): GraphQLSchema {
  for (const [name, description] of Object.entries(ROOT_TYPES)) {
    const type = schema.getType(name);
    if (type) type.description = description;
  }
  return schema;
}

const apolloLogger = () => {
  const logger = new Logger('Apollo');
  return Object.assign(logger, { info: (message?: unknown) => logger.log(message) });
};
