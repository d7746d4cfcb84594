import type { FastifyReply, FastifyRequest } from 'fastify';
import { execute, type GraphQLSchema } from 'graphql';
import type { Authenticator } from '../auth/access/index.js';
import { ERRORS } from '../common/errors/errors.js';
import { toAppError } from '../common/errors/to-app-error.js';
import type { GraphqlSettings } from '../config/config.js';
import type { GraphqlContext } from './context.js';
import { Documents } from './documents.js';
import { toGraphQLError } from './graphql-errors.js';
import { type GraphqlRequest, readGraphqlRequest } from './graphql-request.js';
import { tooComplex } from './limits/too-complex.js';

/** Who asks for this learns from the status, too, that an operation was not executed; others get 200 as ever. */
const GRAPHQL_RESPONSE = 'application/graphql-response+json';

/** A request header with which a client asks for `extensions.cost`. */
const COST_HEADER = 'graphql-cost';

/** What came of an operation; without `data` it was not executed. */
interface Outcome {
  readonly errors?: readonly unknown[] | undefined;
  readonly data?: unknown;
  readonly extensions?: unknown;
}

/** GraphQL over HTTP (https://graphql.github.io/graphql-over-http/draft/), by POST alone. */
export class GraphqlHandler {
  private readonly documents: Documents;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly settings: GraphqlSettings,
    private readonly authenticator: Authenticator,
  ) {
    this.documents = new Documents(schema, settings);
  }

  async handle(request: FastifyRequest, reply: FastifyReply): Promise<string> {
    const isModern = request.headers.accept?.includes(GRAPHQL_RESPONSE) ?? false;
    reply.header('content-type', `${isModern ? GRAPHQL_RESPONSE : 'application/json'}; charset=utf-8`);
    let outcome: Outcome;
    try {
      const params = readGraphqlRequest(request.body);
      const principal = await this.authenticator.authenticate(request);
      outcome = await this.run(params, { request, user: principal?.account ?? null });
      if (isModern && outcome.data === undefined) reply.status(ERRORS.MALFORMED_REQUEST.status);
    } catch (error) {
      const { status, headers, defaultHeaders } = toAppError(error);
      reply.status(status).headers({ ...defaultHeaders, ...headers });
      outcome = { errors: [error] };
    }
    if (!outcome.errors) return JSON.stringify(outcome);
    const errors = outcome.errors.map((error) => toGraphQLError(error, request.id));
    return JSON.stringify({ ...outcome, errors });
  }

  private async run(
    { query, operationName, variables = {} }: GraphqlRequest,
    context: GraphqlContext,
  ): Promise<Outcome> {
    const { limits, suggestions } = this.settings;
    let document;
    let cost: number;
    try {
      const checked = this.documents.check(query);
      if (!('document' in checked)) return { errors: checked };
      ({ document } = checked);
      cost = checked.cost(operationName, variables);
      tooComplex('objects to answer with', cost, limits.cost);
    } catch (error) {
      return { errors: [error] };
    }
    const result = await execute({
      schema: this.schema,
      document,
      operationName,
      variableValues: variables,
      contextValue: context,
      hideSuggestions: !suggestions,
    });
    if (!(COST_HEADER in context.request.headers)) return result;
    return { ...result, extensions: { cost: { objects: cost, limit: limits.cost } } };
  }
}
