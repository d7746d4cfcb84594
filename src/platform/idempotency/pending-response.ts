import type { FastifyReply, onSendHookHandler } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Counter } from 'prom-client';
import { AppError, ERRORS } from '../http/errors/errors.js';
import { appendHook } from '../http/routes.js';

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

/** A response in its final form. */
export interface StoredResponse {
  readonly status: number;
  /** The headers that the handling of the request has set. */
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>;
  /** `null` if the response had no body. */
  readonly body: string | null;
}

/** The result of a request, or of a concurrent one with the same key. */
export interface Outcome {
  readonly response: StoredResponse;
  readonly isReplayed: boolean;
}

/** The transaction is rolled back because the response is an error, which is not stored. */
class NotStored extends Error {}

/**
 * Connects the two ends of an idempotent request: the handler, whose transaction stays open, and the time
 * right before the response is sent, when its final status, headers and body are stored in that transaction.
 *
 * From the first write until then, nothing else can write on SQLite, and a connection is in use on PostgreSQL.
 *
 * | What happens                               | Writes and record                   | The client gets                       |
 * | ------------------------------------------ | ----------------------------------- | ------------------------------------- |
 * | an error until the commit                  | are rolled back                     | the error; a retry runs               |
 * | a conflict before the handler has returned | are rolled back; it runs again      | the response of the second run        |
 * | a conflict afterwards                      | are rolled back                     | 503; a retry runs                     |
 * | the commit fails                           | are rolled back                     | 503, or 500 for a fault; a retry runs |
 * | the connection is lost during the commit   | are committed or rolled back        | 503; a retry shows which              |
 * | the client disconnects during the handler  | are committed: nothing is cancelled | the response, with a retry            |
 */
export class PendingResponse {
  /** What other interceptors get. */
  private readonly handled = Promise.withResolvers<unknown>();
  /** The response as it will be sent; until then, the work of the transaction waits. */
  private readonly final = Promise.withResolvers<StoredResponse>();
  private readonly snapshot: ReplySnapshot;
  /** Settles when the transaction has ended. */
  private outcome!: Promise<Outcome>;
  /** Whether other interceptors have the value, so that the handler cannot run again. */
  private isHandled = false;

  constructor(private readonly reply: FastifyReply) {
    this.snapshot = new ReplySnapshot(reply);
    // Avoids an unhandled rejection; `outcome` has the same error.
    this.final.promise.catch(() => undefined);
  }

  /**
   * The work of the transaction: handles the request, then waits for the final form of the response. It may run again
   * after a conflict, but not once other interceptors have received a value.
   */
  async handleAndWait(handle: () => Promise<unknown>): Promise<StoredResponse> {
    if (this.isHandled) throw new AppError('SERVICE_UNAVAILABLE', ERRORS.SERVICE_UNAVAILABLE.message);
    this.snapshot.restore();
    const value = await handle();
    // Otherwise the transaction would wait for ever: no hook sees such a response.
    if (this.reply.sent) throw new TypeError('An @Idempotent() handler must not take over the response');
    this.isHandled = true;
    this.handled.resolve(value);
    return this.final.promise;
  }

  /**
   * The value of the handler, for other interceptors. For a replay it is the stored body; what they make of it is not sent.
   */
  resultOf(outcome: Promise<Outcome>): Promise<unknown> {
    this.outcome = outcome;
    outcome.then(
      // Otherwise the handler has resolved it.
      ({ response, isReplayed }) => isReplayed && this.handled.resolve(parsed(response)),
      (error: unknown) => {
        if (!this.isHandled) this.snapshot.restore();
        this.handled.reject(error);
      },
    );
    return this.handled.promise;
  }

  /**
   * Ends the transaction: stores the response and commits, or rolls back if it is an error.
   *
   * @returns the body to send; of the stored response for a replay
   * @throws if the response could not be stored: the client must not get it
   */
  async finish(payload: unknown): Promise<unknown> {
    const { outcome, reply, final, snapshot } = this;
    if (reply.statusCode >= 400) {
      final.reject(new NotStored());
      await outcome.catch(() => undefined);
      return payload;
    }
    try {
      final.resolve(snapshot.responseWith(payload));
      const { response, isReplayed } = await outcome;
      if (!isReplayed) return payload;
      // Without headers that only this attempt has set.
      snapshot.restore();
      return replay(reply, response);
    } catch (error) {
      final.reject(error);
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
    const hook: onSendHookHandler = (request, reply, payload, next) => {
      const { pendingResponse: pending } = request;
      if (!pending) {
        next(null, payload);
        return;
      }
      // The response to an error below passes this hook again.
      request.pendingResponse = null;
      void finishResponse(pending, payload, (error, body) => {
        if (reply.hasHeader('idempotent-replayed')) replays.inc();
        // Fastify accepts an error here; its types allow one only without a body.
        next(error as null, body);
      });
    };
    // A hook of the route runs after those of the application, which may still change the response.
    fastify.addHook('onRoute', (route) => {
      if (route.config?.idempotent) appendHook(route, 'onSend', hook);
    });
    done();
  },
  { name: 'idempotent responses', dependencies: ['body', 'json text', 'entity tags'] },
);

async function finishResponse(
  pending: PendingResponse,
  payload: unknown,
  done: (error: Error | null, payload?: unknown) => void,
): Promise<void> {
  let body: unknown;
  try {
    body = await pending.finish(payload);
  } catch (error) {
    done(error as Error);
    return;
  }
  done(null, body);
}

/** Parsed JSON, if serializing it gives the same text; otherwise the text. */
function parsed({ body }: StoredResponse): unknown {
  if (body === null) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return JSON.stringify(value) === body ? value : body;
  } catch {
    return body;
  }
}

/** The state of a reply before the handler runs. */
class ReplySnapshot {
  private readonly status: number;
  private readonly headers: ReturnType<FastifyReply['getHeaders']>;

  constructor(private readonly reply: FastifyReply) {
    this.status = reply.statusCode;
    this.headers = reply.getHeaders();
  }

  /** Removes what a rolled back attempt has set. */
  restore(): void {
    const { reply } = this;
    for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
    reply.status(this.status).headers(this.headers);
  }

  /** @throws TypeError for a body that is not text, such as a stream: it cannot be stored */
  responseWith(payload: unknown): StoredResponse {
    if (payload !== undefined && payload !== null && typeof payload !== 'string') {
      throw new TypeError('An @Idempotent() handler must respond with JSON, text or nothing');
    }
    const { reply, headers: before } = this;
    const headers = Object.entries(reply.getHeaders()).filter(([name, value]) => before[name] !== value);
    return { status: reply.statusCode, headers: Object.fromEntries(headers), body: payload || null };
  }
}

/** Sends a stored response instead of that of the handler and its interceptors. @returns its body */
function replay(reply: FastifyReply, { status, headers, body }: StoredResponse): string | null {
  // Fastify would append to cookies that were set before.
  for (const name of Object.keys(headers)) reply.removeHeader(name);
  reply.status(status).headers(headers).header('idempotent-replayed', 'true');
  return body;
}
