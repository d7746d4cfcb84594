import type { FastifyReply, onSendAsyncHookHandler } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Counter } from 'prom-client';
import { appendHook } from '../http/routes.js';
import type { StoredResponse } from './idempotency-records.js';
import { KeyedWork } from './idempotency.service.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by `Idempotent`. */
    idempotent?: boolean;
  }
}

/** The response to a request with a key: it ends the transaction of the handler, or repeats a stored response. */
export class KeyedResponse {
  private readonly status: number;
  private readonly headers: ReturnType<FastifyReply['getHeaders']>;

  /** @param reply as it is before the handler runs */
  constructor(private readonly reply: FastifyReply) {
    this.status = reply.statusCode;
    this.headers = reply.getHeaders();
  }

  /** The work whose transaction is open, or the response of an earlier request. */
  outcome!: Promise<KeyedWork | StoredResponse>;

  /** Removes what an attempt has set that was rolled back. */
  reset(): void {
    const { reply } = this;
    for (const name of Object.keys(reply.getHeaders())) reply.removeHeader(name);
    reply.status(this.status).headers(this.headers);
  }

  /**
   * Stores the response and commits, or rolls back if it is an error.
   *
   * @param payload as all interceptors and hooks of the application have left it
   * @returns the body to send
   * @throws if the response could not be stored: the client must not get it
   */
  async finish(payload: unknown): Promise<unknown> {
    if (this.reply.statusCode >= 400) {
      const outcome = await this.outcome.catch(() => undefined);
      if (outcome instanceof KeyedWork) await outcome.discard();
      return payload;
    }
    try {
      const outcome = await this.outcome;
      if (!(outcome instanceof KeyedWork)) return this.replay(outcome);
      await outcome.store(() => this.responseWith(payload));
      return payload;
    } catch (error) {
      this.reset();
      throw error;
    }
  }

  /** @throws TypeError for a body that is not text, such as a stream: it cannot be stored */
  private responseWith(payload: unknown): StoredResponse {
    if (payload !== undefined && payload !== null && typeof payload !== 'string') {
      throw new TypeError('An @Idempotent() handler must respond with JSON, text or nothing');
    }
    const { reply, headers: before } = this;
    const headers = Object.entries(reply.getHeaders()).filter(([name, value]) => before[name] !== value);
    return { status: reply.statusCode, headers: Object.fromEntries(headers), body: payload || null };
  }

  /** Sends the stored response, without headers that this request has set. */
  private replay({ status, headers, body }: StoredResponse): string | null {
    const { reply } = this;
    this.reset();
    // Fastify would append to cookies that were set before.
    for (const name of Object.keys(headers)) reply.removeHeader(name);
    reply.status(status).headers(headers).header('idempotent-replayed', 'true');
    return body;
  }
}

/** Ends each request with a key before its response is sent, as all hooks of the application have left it. */
export const keyedResponses = fastifyPlugin<{ replays: Counter }>(
  (fastify, { replays }, done) => {
    const hook: onSendAsyncHookHandler = async (request, reply, payload) => {
      const { context } = request;
      const { keyedResponse } = context;
      if (!keyedResponse) return payload;
      // An error below becomes a response in `ErrorFilter`, which passes this hook again.
      context.keyedResponse = undefined;
      const body = await keyedResponse.finish(payload);
      if (reply.hasHeader('idempotent-replayed')) replays.inc();
      return body;
    };
    // A hook of the route runs after those of the application, which may still change the response.
    fastify.addHook('onRoute', (route) => {
      if (route.config?.idempotent) appendHook(route, 'onSend', hook);
    });
    done();
  },
  { name: 'keyed responses', dependencies: ['body', 'json text', 'entity tags'] },
);
