import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { isUnreadable } from '../http/json-body.js';
import { IdempotencyScope } from './idempotency-scope.js';
import { IDEMPOTENT, type IdempotentOptions, missingKey, parseKey } from './idempotency-key.js';
import { IdempotencyService } from './idempotency.service.js';
import { PendingResponse } from './pending-response.js';

/**
 * Lets the handler take effect once for each key. The response is stored in its final form, after all other
 * interceptors and after serialization (see `PendingResponse`), so that a retry gets exactly the same.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly scope: IdempotencyScope,
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
    return this.handleOnce(request, http.getResponse<FastifyReply>(), key, next);
  }

  private handleOnce(
    request: FastifyRequest,
    reply: FastifyReply,
    key: string,
    next: CallHandler,
  ): Observable<unknown> {
    const { method, routeOptions, params, user } = request;
    const operation = { caller: user?.id ?? null, method, path: routeOptions.url, params };
    // An unreadable body is reported where it is read: errors of the id in the path come first, and a record of the key
    // does not matter. A handler that reads no body takes effect once, too.
    const isReadable = !isUnreadable(request.body);
    const id = this.scope.idOf(operation, isReadable ? key : `${key} with an unreadable body`);
    const fingerprints = this.scope.fingerprintsOf(isReadable ? request.body : undefined);
    const pending = new PendingResponse(reply);
    request.pendingResponse = pending;
    const outcome = this.idempotency.once(id, fingerprints, () =>
      pending.handleAndWait(() => lastValueFrom(next.handle(), { defaultValue: undefined })),
    );
    return from(pending.resultOf(outcome));
  }
}
