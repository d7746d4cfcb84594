import { randomUUID } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import {
  type DocumentNode,
  type ExecutionArgs,
  getOperationAST,
  GraphQLError,
  type GraphQLFormattedError,
  type GraphQLSchema,
  OperationTypeNode,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import { CloseCode, type Context, type ServerOptions, type SubscribePayload } from 'graphql-ws';
import type { Extra } from 'graphql-ws/use/ws';
import { WebSocket } from 'ws';
import type { Authenticator, CredentialWatch } from '../../access/index.js';
import { AppError } from '../../http/errors/errors.js';
import type { RateLimiter } from '../../http/rate-limiter.js';
import { endOperation } from '../loading/text-loader.js';
import { toRequest } from '../../http/request-of.js';
import { runWithRequest } from '../../http/request-context.js';
import type { GraphqlSettings } from '../../config/config.js';
import { tooManyItems } from '../request-body.js';
import { checkSize } from '../route.js';
import { createFormatError, toClientError } from '../graphql-errors.js';
import { costOf } from '../limits/cost.js';
import { noIntrospectionRule, shapeRule } from '../limits/rules.js';
import { tooComplex } from '../limits/too-complex.js';

type Connection = Context<Record<string, unknown>, Extra>;

/** The maximum length of the id of an operation, in characters: a UUID has 36. */
const MAX_ID = 128;

/** The maximum number of concurrent subscriptions of a connection. */
const MAX_SUBSCRIPTIONS = 50;

interface Services {
  readonly authenticator: Authenticator;
  readonly credentials: CredentialWatch;
  readonly limiter: RateLimiter;
}

/** Authenticates connections while they last, with the limits and errors of requests over HTTP. */
export function subscriptionOptions(
  schema: GraphQLSchema,
  { limits, introspection, suggestions, ...settings }: GraphqlSettings,
  { authenticator, credentials, limiter }: Services,
): ServerOptions<Record<string, unknown>, Extra> {
  const formatError = createFormatError({ limits, introspection, suggestions, ...settings });
  const rules = [...specifiedRules, ...(introspection ? [] : [noIntrospectionRule]), shapeRule(limits)];

  const format = (connection: Connection, errors: readonly GraphQLError[]): GraphQLFormattedError[] =>
    runWithRequest(requestOf(connection), () => errors.map((error) => formatError(undefined, error)));

  function check(connection: Connection, payload: SubscribePayload): readonly GraphQLError[] | DocumentNode {
    if (Object.keys(connection.subscriptions).length > MAX_SUBSCRIPTIONS) {
      return [tooComplex('open subscriptions', MAX_SUBSCRIPTIONS + 1, MAX_SUBSCRIPTIONS)!];
    }
    checkSize(payload);
    const document = parse(payload.query, { maxTokens: limits.tokens });
    const errors = validate(schema, document, rules, { hideSuggestions: !suggestions });
    if (errors.length > 0) return errors;
    const operation = getOperationAST(document, payload.operationName);
    if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) {
      throw new AppError(
        'MALFORMED_REQUEST',
        'Only subscriptions are accepted here; send queries and mutations by POST',
      );
    }
    const tooMany = tooManyItems(payload, operation);
    if (tooMany) throw tooMany;
    const error = tooComplex(
      'objects to respond with',
      costOf(operation, document, schema)(payload.variables ?? {}),
      limits.cost,
    );
    return error ? [error] : document;
  }

  return {
    onConnect: async (connection) => {
      try {
        const request = requestOf(connection);
        await runWithRequest(request, () => authenticator.authenticate(request));
        const { socket } = connection.extra;
        if (socket.readyState !== WebSocket.OPEN) return false;
        // The client may reconnect with another credential.
        const unwatch = credentials.watch(request, () => socket.close(CloseCode.Forbidden, 'Forbidden'));
        socket.once('close', unwatch);
        return true;
      } catch (error) {
        const failure = toClientError(error);
        // 4403 of the protocol, for a rejected credential.
        if (failure instanceof AppError && failure.code !== 'INTERNAL_ERROR') return false;
        throw error;
      }
    },
    onSubscribe: async (connection, id, payload): Promise<ExecutionArgs | readonly GraphQLError[]> => {
      try {
        if (id.length > MAX_ID) {
          throw new AppError('MALFORMED_REQUEST', `The id of an operation has at most ${MAX_ID} characters`);
        }
        const req = requestOf(connection);
        await limiter.check(req);
        const document = check(connection, payload);
        if (!('kind' in document)) return document;
        const principal = await authenticator.authenticate(req);
        return {
          schema,
          document,
          operationName: payload.operationName,
          variableValues: payload.variables,
          contextValue: { req, user: principal?.account ?? null },
        };
      } catch (error) {
        return [
          error instanceof GraphQLError ? error : new GraphQLError('', { originalError: error as Error }),
        ];
      }
    },
    onError: (connection, _id, _payload, errors) => format(connection, errors),
    onNext: (connection, _id, _payload, { contextValue }, { errors, data }) => {
      const failure = endOperation(contextValue as object, { isOver: false });
      // It ends the subscription with a message of the type `error`.
      if (failure) throw failure;
      return errors && { ...(data !== undefined && { data }), errors: format(connection, errors) };
    },
  };
}

const requestIds = new WeakMap<object, string>();

function requestIdOf({ extra }: Connection): string {
  let id = requestIds.get(extra);
  if (!id) requestIds.set(extra, (id = randomUUID()));
  return id;
}

/** Browsers cannot set headers on an upgrade request, so the connection's parameters replace headers. */
function requestOf(connection: Connection): FastifyRequest {
  const parameters = Object.entries(connection.connectionParams ?? {})
    .filter(([, value]) => typeof value === 'string')
    .map(([name, value]) => [name.toLowerCase(), value]);
  return toRequest(connection.extra.request, {
    id: requestIdOf(connection),
    headers: Object.fromEntries(parameters),
  });
}
