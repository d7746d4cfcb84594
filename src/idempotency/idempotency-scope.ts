import { createHash, createHmac, hkdfSync } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Config } from '../config/config.js';
import { canonicalJson } from './canonical-json.js';

/** What makes two requests the same: who asks what under which key, and with which body. */
@Injectable()
export class IdempotencyScope {
  private readonly secret: Buffer;

  constructor({ jwtSecret }: Config) {
    this.secret = Buffer.from(hkdfSync('sha256', jwtSecret, '', 'idempotency fingerprints', 32));
  }

  /** Id of the record: callers do not meet under one key, nor do paths. The query is not looked at. */
  idOf(request: FastifyRequest, key: string): string {
    const { method, routeOptions, params } = request;
    const caller = request.user?.id ?? null;
    const scope = JSON.stringify([caller, method, routeOptions.url, params, key]);
    return createHash('sha256').update(scope).digest('base64url');
  }

  /**
   * Tells bodies apart; blanks and the order of members make no difference. No body counts as `{}`. It is
   * keyed, as a body may hold a password, which must not be guessed from what is stored.
   */
  fingerprintOf({ body = {} }: FastifyRequest): string {
    return createHmac('sha256', this.secret).update(canonicalJson(body)).digest('base64url');
  }
}
