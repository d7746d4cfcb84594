import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { GraphQLSchemaHost } from '@nestjs/graphql';
import type { FastifyInstance } from 'fastify';
import type { Disposable } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { Authenticator } from '../../auth/access/index.js';
import { Config } from '../../config/config.js';
import { subscriptionOptions } from './subscription-options.js';

const PATH = /^\/graphql\/?(?:\?|$)/;

/** Bytes of a message: a document of 64 KiB, with its variables. */
const MAX_MESSAGE = 256 * 1024;

/**
 * Serves subscriptions over WebSocket by the protocol of graphql-ws, if they are switched on. Nest's own server
 * (`subscriptions: { 'graphql-ws': true }`) accepts messages of 100 MiB and leaves connections to other paths open.
 */
@Injectable()
export class SubscriptionServer implements OnApplicationBootstrap, OnModuleDestroy {
  private server: Disposable | undefined;

  constructor(
    private readonly config: Config,
    private readonly authenticator: Authenticator,
    private readonly schema: GraphQLSchemaHost,
    private readonly host: HttpAdapterHost,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.graphql.subscriptions) return;
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance>();
    if (!fastify) return;
    const http = fastify.server;
    const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE });
    this.server = useServer(
      {
        ...subscriptionOptions(this.schema.schema, this.config.graphql, this.authenticator),
        isProd: true,
      },
      sockets,
    );
    http.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      // Node has let go of it: the error of a client that has left would end the process.
      socket.on('error', () => undefined);
      if (PATH.test(request.url ?? '')) {
        sockets.handleUpgrade(request, socket, head, (client) => sockets.emit('connection', client, request));
      } else if (http.listenerCount('upgrade') === 1) {
        socket.end('HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
      }
    });
  }

  /** Comes before the HTTP server is closed, which waits for all connections. */
  async onModuleDestroy(): Promise<void> {
    await this.server?.dispose();
  }
}
