import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import type { Disposable } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../../http/errors/errors.js';
import { NO_WEBSOCKET, Upgrades } from '../../http/edge/upgrades.js';
import { Config } from '../../config/config.js';
import { SubscriptionOptions } from './subscription-options.js';

const PATH = /^\/graphql\/?(?:\?|$)/;

/** The maximum size of a message: a document of 64 KiB, with its variables. */
const MAX_MESSAGE = 256 * 1024;

/** 1 MiB: the maximum that waits for a client that sends but does not read, in bytes. A pong repeats its ping's data. */
const MAX_WAITING = 1024 * 1024;

/** The maximum length of the reason of a close, in characters: four bytes each have room in a frame. */
const MAX_REASON = 30;

/** A connection whose errors are those of its client: they end the connection, and `graphql-ws` must not report them. */
class ClientSocket extends WebSocket {
  /** A write fails when the client has left. */
  override send(...[data, done]: any[]): void {
    super.send(data, () => done?.());
  }

  /** The reason names the id of an operation; a longer one is an error (RFC 6455, section 5.5). */
  override close(code?: number, reason?: string | Buffer): void {
    super.close(code, reason?.toString().slice(0, MAX_REASON));
  }

  /** A frame that is too large or breaks the protocol has closed the connection (RFC 6455, section 7.4.1). */
  override emit(event: string | symbol, ...values: any[]): boolean {
    return event === 'error' || super.emit(event, ...values);
  }
}

/**
 * Serves subscriptions over WebSocket with the protocol of graphql-ws, if they are enabled. Nest's own server
 * (`subscriptions: { 'graphql-ws': true }`) accepts messages of 100 MiB and leaves connections to other paths open.
 */
@Injectable()
export class SubscriptionServer implements OnApplicationBootstrap, OnModuleDestroy {
  private server: Disposable | undefined;

  constructor(
    private readonly config: Config,
    private readonly options: SubscriptionOptions,
    private readonly upgrades: Upgrades,
    private readonly host: HttpAdapterHost,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.config.graphql.subscriptions) return;
    const fastify = this.host.httpAdapter?.getInstance<FastifyInstance>();
    if (!fastify) return;
    const http = fastify.server;
    const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE, WebSocket: ClientSocket });
    sockets.on('headers', (lines, request) => lines.push(...this.upgrades.headerLinesOf(request)));
    this.server = useServer({ ...this.options.create(), isProd: true }, sockets);
    this.upgrades.handle(PATH, (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, (client) => {
        client.on('message', () => {
          if (client.bufferedAmount > MAX_WAITING) client.terminate();
        });
        sockets.emit('connection', client, request);
      });
    });
    // Node emits upgrades only if there is a listener.
    http.on('upgrade', (request: IncomingMessage, socket: Duplex) => {
      if (http.listenerCount('upgrade') > 1) return;
      this.upgrades.reject(request, socket, new AppError('NOT_FOUND', NO_WEBSOCKET));
    });
  }

  /** Runs before the HTTP server is closed, which waits for all connections. */
  async onModuleDestroy(): Promise<void> {
    await this.server?.dispose();
  }
}
