import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { UnreadableBody } from '../common/http/json-body.js';
import { rememberHandling } from './handling.js';
import { IdempotencyService } from './idempotency.service.js';
import { KEY_REQUIRED, missingKey, parseKey } from './idempotency-key.js';
import { Identities } from './identities.js';
import { answerOf, giveAgain, remember } from './answer.js';

/**
 * Looks at the key and its record, after the guard that says who calls and before the body is checked; what
 * it finds out is for the handler to go by. An interceptor would see both ends, but it would slow down every
 * request to the route, also those without a key.
 */
@Injectable()
export class IdempotencyGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly identities: Identities,
    private readonly idempotency: IdempotencyService,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const key = parseKey(String(request.headers['idempotency-key'] ?? ''));
    if (key !== undefined) {
      // What cannot be read is refused by the input pipe.
      if (request.body instanceof UnreadableBody) return true;
      return this.prepare(request, http.getResponse<FastifyReply>(), key);
    }
    if (this.reflector.get<boolean>(KEY_REQUIRED, context.getHandler())) throw missingKey();
    return true;
  }

  private async prepare(request: FastifyRequest, reply: FastifyReply, key: string): Promise<boolean> {
    const id = this.identities.scopeOf(request, key);
    const fingerprint = this.identities.fingerprintOf(request);
    const kept = await this.idempotency.find(id, fingerprint);
    rememberHandling(request, async (handle) => {
      if (kept) return giveAgain(reply, kept);
      const { restore } = remember(reply);
      try {
        const { answer, isReplayed } = await this.idempotency.once(id, fingerprint, () => {
          restore();
          return answerOf(request, reply, handle);
        });
        return isReplayed ? giveAgain(reply, answer) : (answer.body ?? undefined);
      } catch (error) {
        restore();
        throw error;
      }
    });
    return true;
  }
}
