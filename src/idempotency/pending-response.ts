import type { FastifyReply, onSendHookHandler } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { AppError } from '../common/errors/errors.js';
import { MESSAGES } from '../common/errors/messages.js';
import { isWrite } from '../common/http/methods.js';
import type { Counter } from '../common/ports/metrics.js';
import type { Outcome } from './idempotency.service.js';
import { replay, ReplySnapshot, type StoredResponse } from './stored-response.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by `Idempotent`. */
    idempotent?: boolean;
  }
  interface FastifyRequest {
    /** Set while an idempotent request is handled. */
    pendingResponse: PendingResponse | null;
  }
}

/** The transaction is rolled back because the response is an error, which is not stored. */
class NotStored extends Error {}

/**
 * Connects the two ends of an idempotent request: the handler, whose transaction stays open, and the time
 * right before the response is sent, when its final status, headers and body are stored in that transaction.
 */
export class PendingResponse {
  private readonly handled = Promise.withResolvers<unknown>();
  private readonly sent = Promise.withResolvers<StoredResponse>();
  private readonly snapshot: ReplySnapshot;
  private outcome: Promise<Outcome> | undefined;
  private stored: StoredResponse | undefined;
  private isHandled = false;

  constructor(private readonly reply: FastifyReply) {
    this.snapshot = new ReplySnapshot(reply);
    // The caller of `outcome` gets the error as well.
    this.sent.promise.catch(() => undefined);
  }

  /** For other interceptors, a value like that of the first request. */
  replay(stored: StoredResponse): unknown {
    this.stored = stored;
    return valueOf(stored);
  }

  /**
   * The work of the transaction: handles the request, then waits for the response. It may run again after a
   * conflict, but not once other interceptors have received a value.
   */
  async response(handle: () => Promise<unknown>): Promise<StoredResponse> {
    if (this.isHandled) throw new AppError('SERVICE_UNAVAILABLE', MESSAGES.SERVICE_UNAVAILABLE);
    this.snapshot.restore();
    const value = await handle();
    this.isHandled = true;
    this.handled.resolve(value);
    return this.sent.promise;
  }

  /** The value of the handler, or of a concurrent request with the same key. */
  value(outcome: Promise<Outcome>): Promise<unknown> {
    this.outcome = outcome;
    outcome.then(
      ({ response, isReplayed }) => this.handled.resolve(isReplayed ? valueOf(response) : undefined),
      (error: unknown) => {
        if (!this.isHandled) this.snapshot.restore();
        this.handled.reject(error);
      },
    );
    return this.handled.promise;
  }

  /** @returns the body to send. @throws if the response could not be stored: the client must not get it */
  async complete(payload: unknown): Promise<unknown> {
    const { outcome, reply, sent, snapshot } = this;
    if (reply.statusCode >= 400) {
      sent.reject(new NotStored());
      await outcome?.catch(() => undefined);
      return payload;
    }
    if (this.stored) return replay(reply, this.stored);
    if (!outcome) return payload;
    try {
      sent.resolve(snapshot.responseWith(payload));
      const { response, isReplayed } = await outcome;
      return isReplayed ? replay(reply, response) : payload;
    } catch (error) {
      sent.reject(error);
      await outcome.catch(() => undefined);
      snapshot.restore();
      throw error;
    }
  }
}

/** Stores the response of each idempotent request before it is sent, as all hooks of the application have left it. */
export const idempotentResponses = fastifyPlugin<{ replays: Counter }>(
  (fastify, { replays }, done) => {
    fastify.decorateRequest('pendingResponse', null);
    const store: onSendHookHandler = (request, reply, payload, next) => {
      const { pendingResponse: pending } = request;
      if (!pending) {
        next(null, payload);
        return;
      }
      request.pendingResponse = null;
      void complete(pending, payload, (error, body) => {
        if (reply.hasHeader('idempotent-replayed')) replays.add();
        // Fastify accepts an error here; its types allow one only without a body.
        next(error as null, body);
      });
    };
    // Hooks of routes run after those of the application.
    fastify.addHook('onRoute', (route) => {
      if (isWrite(route) || route.config?.idempotent) {
        route.onSend = [...[route.onSend ?? []].flat(), store];
      }
    });
    done();
  },
  { name: 'idempotent responses', dependencies: ['body'] },
);

async function complete(
  pending: PendingResponse,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
): Promise<void> {
  let body: unknown;
  try {
    body = await pending.complete(payload);
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, body);
}

/** Parsed JSON, if serializing it gives the same text; otherwise the text. */
function valueOf({ body }: StoredResponse): unknown {
  if (body === null) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return JSON.stringify(value) === body ? value : body;
  } catch {
    return body;
  }
}
