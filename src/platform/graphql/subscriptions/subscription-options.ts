import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import type { FastifyRequest } from 'fastify';
import {
  type DocumentNode,
  type ExecutionArgs,
  getOperationAST,
  GraphQLError,
  type GraphQLFormattedError,
  OperationTypeNode,
  parse,
  specifiedRules,
  validate,
  type ValidationRule,
} from 'graphql';
import { CloseCode, type Context, type ServerOptions, type SubscribePayload } from 'graphql-ws';
import type { Extra } from 'graphql-ws/use/ws';
import { WebSocket } from 'ws';
import { Authenticator, CredentialWatch } from '../../access/index.js';
import { AppError } from '../../http/errors/errors.js';
import { RateLimiter } from '../../http/rate-limiter.js';
import { Operation } from '../loading/operation.js';
import { toRequest } from '../../http/request-of.js';
import { runWithRequest } from '../../http/request-context.js';
import { Config } from '../../config/config.js';
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

type Options = ServerOptions<Record<string, unknown>, Extra>;

/** Authenticates connections while they last, with the limits and errors of requests over HTTP. */
@Injectable()
export class SubscriptionOptions {
  private readonly rules: readonly ValidationRule[];
  private readonly formatError: ReturnType<typeof createFormatError>;

  constructor(
    private readonly config: Config,
    private readonly authenticator: Authenticator,
    private readonly credentials: CredentialWatch,
    private readonly limiter: RateLimiter,
    private readonly host: GraphQLSchemaHost,
  ) {
    const { limits, introspection } = config.graphql;
    this.rules = [...specifiedRules, ...(introspection ? [] : [noIntrospectionRule]), shapeRule(limits)];
    this.formatError = createFormatError(config.graphql);
  }

  create(): Options {
    return {
      onConnect: (connection) => this.connect(connection),
      onSubscribe: (connection, id, payload) => this.subscribe(connection, id, payload),
      onError: (connection, _id, _payload, errors) => this.format(connection, errors),
      onNext: (connection, _id, _payload, { contextValue }, { errors, data }) => {
        const failure = Operation.of(contextValue as object).end({ isOver: false });
        // It ends the subscription with a message of the type `error`.
        if (failure) throw failure;
        return errors && { ...(data !== undefined && { data }), errors: this.format(connection, errors) };
      },
    };
  }

  private async connect(connection: Connection): Promise<boolean> {
    try {
      const request = requestOf(connection);
      await runWithRequest(request, () => this.authenticator.authenticate(request));
      const { socket } = connection.extra;
      if (socket.readyState !== WebSocket.OPEN) return false;
      // The client may reconnect with another credential.
      const unwatch = this.credentials.watch(request, () => socket.close(CloseCode.Forbidden, 'Forbidden'));
      socket.once('close', unwatch);
      return true;
    } catch (error) {
      const failure = toClientError(error);
      // 4403 of the protocol, for a rejected credential.
      if (failure instanceof AppError && failure.code !== 'INTERNAL_ERROR') return false;
      throw error;
    }
  }

  private async subscribe(
    connection: Connection,
    id: string,
    payload: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    try {
      if (id.length > MAX_ID) {
        throw new AppError('MALFORMED_REQUEST', `The id of an operation has at most ${MAX_ID} characters`);
      }
      const req = requestOf(connection);
      await this.limiter.check(req);
      const document = this.check(connection, payload);
      if (!('kind' in document)) return document;
      const principal = await this.authenticator.authenticate(req);
      return {
        schema: this.host.schema,
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
  }

  private check(connection: Connection, payload: SubscribePayload): readonly GraphQLError[] | DocumentNode {
    if (Object.keys(connection.subscriptions).length > MAX_SUBSCRIPTIONS) {
      return [tooComplex('open subscriptions', MAX_SUBSCRIPTIONS + 1, MAX_SUBSCRIPTIONS)!];
    }
    checkSize(payload);
    const { schema } = this.host;
    const { limits, suggestions } = this.config.graphql;
    const document = parse(payload.query, { maxTokens: limits.tokens });
    const errors = validate(schema, document, this.rules, { hideSuggestions: !suggestions });
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
    const cost = costOf(operation, document, schema, payload.variables ?? {});
    const error = tooComplex('objects to respond with', cost, limits.cost);
    return error ? [error] : document;
  }

  private format(connection: Connection, errors: readonly GraphQLError[]): GraphQLFormattedError[] {
    const request = requestOf(connection);
    return runWithRequest(request, () => errors.map((error) => this.formatError(undefined, error)));
  }
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
