import { randomUUID } from 'node:crypto';
import type { Server, ServerOptions } from 'node:http';
import type { ApolloServerPlugin } from '@apollo/server';
import type { ApolloDriverConfig } from '@nestjs/apollo';
import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import type { FastifyRequest } from 'fastify';
import {
  createSourceEventStream,
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  type FormattedExecutionResult,
  getOperationAST,
  GraphQLError,
  type GraphQLFormattedError,
  OperationTypeNode,
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import {
  CloseCode,
  type Context,
  type ServerOptions as GraphqlWsOptions,
  type SubscribePayload,
} from 'graphql-ws';
import type { Extra } from 'graphql-ws/use/ws';
import { Registry } from 'prom-client';
import { Authenticator, CredentialWatch } from '../../../../../src/platform/access/index.js';
import { Config } from '../../../../../src/platform/config/config.js';
import { createFormatError, toClientError } from '../../../../../src/platform/graphql/graphql-errors.js';
import { GraphqlOptions } from '../../../../../src/platform/graphql/graphql.options.js';
import { costOf } from '../../../../../src/platform/graphql/limits/cost.js';
import { noIntrospectionRule, shapeRule } from '../../../../../src/platform/graphql/limits/rules.js';
import { tooComplex } from '../../../../../src/platform/graphql/limits/too-complex.js';
import { Operation } from '../../../../../src/platform/graphql/loading/operation.js';
import { checkSize } from '../../../../../src/platform/graphql/route.js';
import { AppError } from '../../../../../src/platform/http/errors/errors.js';
import { RequestContext, runInContext } from '../../../../../src/platform/http/request-context.js';

type Parameters = Record<string, unknown>;
type Connection = Context<Parameters, Extra & { requestId?: string }>;

/** The context of resolvers: that of {@link GraphqlContext} without a response. */
interface SubscriptionContext {
  readonly req: FastifyRequest;
  readonly user: object | null;
}

const PATH = /^\/graphql\/?(?:\?|$)/;

/** 1 MiB: the maximum that waits for a client that sends but does not read, in bytes. A pong repeats its ping's data. */
const MAX_WAITING = 1024 * 1024;

/** The maximum length of the id of an operation, in characters: the reason of a close must have room for it. */
const MAX_ID = 64;

/** The maximum number of open subscriptions of a connection. */
const MAX_SUBSCRIPTIONS = 50;

const OVER_HTTP = 'Subscriptions are accepted over WebSocket only, with the protocol graphql-transport-ws';
const OVER_WEBSOCKET = 'Only subscriptions are accepted here; send queries and mutations by POST';

/**
 * The options of Apollo Server with subscriptions over WebSocket (`graphql-ws`), as Nest's documentation shows them, with
 * the rules of an operation over HTTP: credentials, access, limits and errors. The caller is known by the bearer token in
 * `connectionParams`; a cookie does not count, because a browser sends it whichever site opens the socket.
 */
@Injectable()
export class SubscriptionsOptions extends GraphqlOptions implements OnModuleInit, OnModuleDestroy {
  private readonly sockets = new Set<Extra['socket']>();

  constructor(
    private readonly settings: Config,
    private readonly callers: Authenticator,
    private readonly credentials: CredentialWatch,
    private readonly host: GraphQLSchemaHost,
    private readonly adapter: HttpAdapterHost,
    registry: Registry,
  ) {
    super(settings, callers, registry);
  }

  override createGqlOptions(): Omit<ApolloDriverConfig, 'driver'> {
    const options = super.createGqlOptions();
    return {
      ...options,
      plugins: [overHttp, ...options.plugins!],
      subscriptions: { 'graphql-ws': this.ofServer() as object },
    };
  }

  /** Nest listens for the upgrades of all paths, and leaves those of others open: they stay plain requests. */
  onModuleInit(): void {
    const server = this.adapter.httpAdapter?.getHttpServer() as Server & ServerOptions;
    if (server)
      server.shouldUpgradeCallback = ({ headers, url = '' }) =>
        headers.upgrade?.toLowerCase() === 'websocket' &&
        // The adapter of a gateway listens, too.
        (PATH.test(url) || server.listenerCount('upgrade') > 1);
  }

  /** Runs before the HTTP server is closed, which waits for all connections. */
  onModuleDestroy(): void {
    for (const socket of this.sockets) socket.close(1001, 'Going away');
  }

  private ofServer(): Partial<GraphqlWsOptions<Parameters, Extra>> {
    const formatError = createFormatError(this.settings.graphql);
    const format = (connection: Connection, errors: readonly GraphQLError[]): GraphQLFormattedError[] =>
      runInContext(requestOf(connection).context, () => errors.map((error) => formatError(undefined, error)));
    return {
      onConnect: (connection) => this.connect(connection),
      onSubscribe: (connection, id, payload) => this.accept(connection, id, payload),
      subscribe: (args) => subscribe(args),
      onError: (connection, _id, _payload, errors) => format(connection, errors),
      onNext: (connection, _id, _payload, _args, { errors, ...result }) =>
        errors && ({ ...result, errors: format(connection, errors) } as FormattedExecutionResult),
    };
  }

  /** @returns false to close it with 4403, for a credential that is not valid */
  private async connect(connection: Connection): Promise<boolean> {
    const request = requestOf(connection);
    try {
      await runInContext(request.context, () => this.callers.authenticate(request));
    } catch (error) {
      const failure = toClientError(error);
      if (failure instanceof AppError && failure.getStatus() < 500) return false;
      throw error;
    }
    const { socket } = connection.extra;
    for (const event of ['message', 'ping'])
      socket.on(event, () => socket.bufferedAmount > MAX_WAITING && socket.terminate());
    if (socket.readyState !== socket.OPEN) return false;
    this.sockets.add(socket);
    const unwatch = this.credentials.watch(request, () => socket.close(CloseCode.Forbidden, 'Forbidden'));
    socket.once('close', () => {
      unwatch();
      this.sockets.delete(socket);
    });
    return true;
  }

  private async accept(
    connection: Connection,
    id: string,
    payload: SubscribePayload,
  ): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const req = requestOf(connection);
    try {
      if (id.length > MAX_ID)
        throw new AppError('MALFORMED_REQUEST', `The id of an operation has at most ${MAX_ID} characters`);
      const args = this.check(connection, payload);
      const principal = await this.callers.authenticate(req);
      const contextValue: SubscriptionContext = { req, user: principal?.account ?? null };
      return { ...args, contextValue };
    } catch (error) {
      if (Array.isArray(error)) return error;
      return [
        error instanceof GraphQLError ? error : new GraphQLError('', { originalError: error as Error }),
      ];
    }
  }

  /** @throws AppError, GraphQLError or an array of them, for what would be refused over HTTP */
  private check({ subscriptions }: Connection, payload: SubscribePayload): ExecutionArgs {
    const { limits, introspection, suggestions } = this.settings.graphql;
    const { schema } = this.host;
    const open = Object.keys(subscriptions).length;
    const tooMany = tooComplex('open subscriptions', open, MAX_SUBSCRIPTIONS);
    if (tooMany) throw tooMany;
    checkSize(payload);
    const document = parse(payload.query, { maxTokens: limits.tokens });
    const rules = [...specifiedRules, ...(introspection ? [] : [noIntrospectionRule]), shapeRule(limits)];
    const errors = validate(schema, document, rules, { hideSuggestions: !suggestions });
    if (errors.length > 0) throw errors;
    const { operationName, variables: variableValues } = payload;
    const operation = getOperationAST(document, operationName);
    if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) {
      throw new AppError('MALFORMED_REQUEST', OVER_WEBSOCKET);
    }
    const cost = costOf(operation, document, schema, variableValues ?? {});
    const tooDear = tooComplex('objects to respond with', cost, limits.cost);
    if (tooDear) throw tooDear;
    return { schema, document, operationName, variableValues };
  }
}

/** Like `subscribe` of graphql-js, with a context for each event: its loaders and its memory end with it. */
async function subscribe(args: ExecutionArgs): Promise<AsyncIterable<ExecutionResult> | ExecutionResult> {
  const { req, user } = args.contextValue as SubscriptionContext;
  const events = await runInContext(req.context, () => createSourceEventStream(args)).finally(() =>
    Operation.of(args.contextValue as object).end(),
  );
  if (!(Symbol.asyncIterator in events)) return events;
  const iterator = events[Symbol.asyncIterator]();
  const resultOf = async (rootValue: unknown) => {
    const contextValue: SubscriptionContext = { req, user };
    try {
      return await runInContext(req.context, () => execute({ ...args, rootValue, contextValue }));
    } finally {
      Operation.of(contextValue).end();
    }
  };
  const results: AsyncIterableIterator<ExecutionResult> = {
    next: async () => {
      const { done, value } = await iterator.next();
      return done ? { done, value: undefined } : { value: await resultOf(value) };
    },
    // The client does not wait for another event, as it would with a generator.
    return: async () => {
      await iterator.return?.();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => results,
  };
  return results;
}

/** graphql-js would fail on the stream of results, as if the service had a fault. */
const overHttp: ApolloServerPlugin = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ operation }) => {
      if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) return;
      const error = new AppError('MALFORMED_REQUEST', OVER_HTTP);
      throw new GraphQLError(error.message, { originalError: error });
    },
  }),
};

/** The request of an operation, as guards and strategies read it. */
function requestOf({ connectionParams, extra }: Connection): FastifyRequest {
  const token = connectionParams?.['Authorization'] ?? connectionParams?.['authorization'];
  const request = {
    id: (extra.requestId ??= randomUUID()),
    method: 'POST',
    url: '/graphql',
    headers: typeof token === 'string' ? { authorization: token } : {},
    ip: extra.request.socket.remoteAddress ?? '',
    raw: extra.request,
    routeOptions: {},
  } as unknown as FastifyRequest;
  request.context = new RequestContext(request);
  return request;
}
