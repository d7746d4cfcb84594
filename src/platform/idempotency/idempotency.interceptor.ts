import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { IDEMPOTENT, type IdempotentOptions, missingKey, parseKey } from './idempotency-key.js';
import type { StoredResponse } from './idempotency-records.js';
import { IdempotencyService, KeyedWork } from './idempotency.service.js';
import { KeyedResponse } from './keyed-response.js';

/**
 * Lets the handler take effect once for each key. The handler runs in a transaction that begins with its first write
 * (`IdempotencyService.handle`). It commits with the record of the response, right before that is sent (`KeyedResponse`):
 * after all interceptors and after serialization, so that a retry gets exactly the same. From the first write until then,
 * nothing else can write on SQLite, and a connection is in use on PostgreSQL.
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
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly idempotency: IdempotencyService,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType() !== 'http') return next.handle();
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const key = parseKey(String(request.headers['idempotency-key'] ?? ''));
    if (key === undefined) {
      const { required } = this.reflector.get<IdempotentOptions>(IDEMPOTENT, context.getHandler());
      if (required) throw missingKey();
      return next.handle();
    }
    return from(this.handleOnce(request, http.getResponse<FastifyReply>(), key, next));
  }

  private async handleOnce(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string,
    next: CallHandler,
  ): Promise<unknown> {
    const { method, routeOptions, params, user } = request;
    // An unreadable body is reported where it is read: errors of the id in the path come first, and a record of the key
    // does not matter. A handler that reads no body takes effect once, too.
    const isReadable = !request.context.isBodyUnreadable;
    const keyed = {
      caller: user?.id ?? null,
      method,
      path: routeOptions.url,
      params,
      key: isReadable ? key : `${key} with an unreadable body`,
      body: isReadable ? request.body : undefined,
    };
    const response = new KeyedResponse(reply);
    let value: unknown;
    const outcome = this.idempotency.handle(keyed, async () => {
      response.reset();
      value = await lastValueFrom(next.handle(), { defaultValue: undefined });
      // Otherwise the transaction would wait for ever: no hook sees such a response.
      if (reply.sent) throw new TypeError('An @Idempotent() handler must not take over the response');
    });
    response.outcome = outcome;
    request.context.keyedResponse = response;
    try {
      const result = await outcome;
      return result instanceof KeyedWork ? value : parsed(result);
    } catch (error) {
      // An outer interceptor may have given up: its response has begun.
      if (request.context.keyedResponse) response.reset();
      throw error;
    }
  }
}

/** What outer interceptors get for a stored response: its JSON, if serializing that gives the same text; otherwise the text. */
function parsed({ body }: StoredResponse): unknown {
  if (body === null) return undefined;
  try {
    const value: unknown = JSON.parse(body);
    return JSON.stringify(value) === body ? value : body;
  } catch {
    return body;
  }
}
