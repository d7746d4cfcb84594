import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { AppError } from '../errors/errors.js';
import { toAppError } from '../errors/to-app-error.js';
import { RateLimiter } from '../rate-limiter.js';
import { SecurityEvents } from '../security-events.js';
import { runInContext } from '../request-context.js';
import { pathOf } from '../request-log.js';
import { ambiguityOf } from './ambiguous-request.js';
import { ConnectionLimit } from './connection-limit.js';
import { addressBehind, rememberAddress, toRequest } from '../request-of.js';
import { rejectConnection } from './reject-connection.js';
import { checkHandshake, checkOrigin } from './websocket-handshake.js';

/** The error of a path that no WebSocket server has. */
export const NO_WEBSOCKET = 'There is no WebSocket at this path';

type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** What every response to an upgrade request has. */
interface ResponseFields {
  readonly requestId: string;
  /** The rest of the rate limit. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Checks the upgrade requests of all WebSocket servers, which do not pass Fastify's hooks: they count for
 * the rate limit, their handshake and origin are checked, and the connections of each client are limited.
 */
@Injectable()
export class Upgrades {
  private readonly connections = new ConnectionLimit('WebSockets');
  private readonly handlers = new Map<RegExp, UpgradeHandler>();
  private readonly responses = new WeakMap<IncomingMessage, ResponseFields>();
  private readonly addressOf: (request: IncomingMessage) => string;

  constructor(
    private readonly config: Config,
    private readonly limiter: RateLimiter,
    private readonly security: SecurityEvents,
  ) {
    this.addressOf = addressBehind(config.trustedProxies);
  }

  /** Handles the requests to a path before any listener: Nest's adapters close those to paths that are not their own. */
  handle(path: RegExp, handler: UpgradeHandler): void {
    this.handlers.set(path, handler);
  }

  /** Rejects the request, or passes it to the handler of its path or to the listeners. */
  async pass(request: IncomingMessage, socket: Duplex, head: Buffer, passOn: UpgradeHandler): Promise<void> {
    // Node has no error listener on this socket: an error of a disconnected client would end the process.
    socket.on('error', () => undefined);
    const id = randomUUID();
    const headers: Record<string, string> = {};
    this.responses.set(request, { requestId: id, headers });
    try {
      rememberAddress(request, this.addressOf(request));
      const asRequest = toRequest(request, { id });
      await this.limiter.check(asRequest, (limit) => Object.assign(headers, limit));
      const ambiguity = ambiguityOf(request);
      if (ambiguity !== undefined) throw new AppError('MALFORMED_REQUEST', ambiguity);
      checkHandshake(request);
      checkOrigin(request, this.config);
      const leave = this.connections.enter(asRequest.context.client.address);
      socket.once('close', leave);
      if (socket.destroyed) {
        leave();
        return;
      }
    } catch (thrown) {
      const error = toAppError(thrown);
      if (error.code === 'FORBIDDEN') {
        runInContext(toRequest(request, { id }).context, () =>
          this.security.record('access_denied', { reason: 'foreign origin' }),
        );
      }
      this.reject(request, socket, error);
      return;
    }
    const handler = this.handlerOf(request.url ?? '');
    if (handler) handler(request, socket, head);
    else this.passToListeners(request, socket, head, passOn);
  }

  private handlerOf(url: string): UpgradeHandler | undefined {
    return [...this.handlers].find(([served]) => served.test(url))?.[1];
  }

  /** Nest's adapters destroy the socket of a path that is not their own: its client gets a response instead. */
  private passToListeners(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    passOn: UpgradeHandler,
  ): void {
    const destroy = socket.destroy.bind(socket);
    let isPassing = true;
    socket.destroy = (error) => {
      if (!isPassing) return destroy(error);
      isPassing = false;
      this.reject(request, socket, new AppError('NOT_FOUND', NO_WEBSOCKET));
      return socket;
    };
    passOn(request, socket, head);
    isPassing = false;
  }

  /** Rejects a request, with the headers that every response has. */
  reject(request: IncomingMessage, socket: Duplex, error: AppError): void {
    const { method = '', url = '' } = request;
    const { address } = toRequest(request).context.client;
    const { requestId, headers } = this.responses.get(request)!;
    rejectConnection(socket, error, {
      requestId,
      // As the other responses of the path: only GraphQL has a handler.
      headers: { ...headers, ...(this.handlerOf(url) && { 'Cache-Control': 'no-store' }) },
      fields: { method, path: pathOf(url), address },
    });
  }

  /** The header lines that the response to an accepted request has, in addition to those of its WebSocket. */
  headerLinesOf(request: IncomingMessage): string[] {
    const { requestId, headers } = this.responses.get(request)!;
    return Object.entries({ 'X-Request-ID': requestId, ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
  }
}
