import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { deriveKey } from '../../common/crypto/derive-key.js';
import { AppError } from '../../common/errors/errors.js';
import { isSafe } from '../../common/http/safe-methods.js';
import { Config } from '../../config/config.js';

const HEADER = 'x-csrf-token';

/**
 * Browsers send the cookie with requests of other sites' making as well; the token of the session only who
 * was told it can send. It follows from the session, and so is kept nowhere.
 */
@Injectable()
export class Csrf {
  private readonly key: Buffer;

  constructor({ jwtSecret }: Config) {
    this.key = deriveKey(jwtSecret, 'csrf');
  }

  tokenOf(sid: string): string {
    return createHmac('sha256', this.key).update(sid).digest('base64url');
  }

  /** @throws AppError `CSRF_FAILED` for an unsafe call without the token of the session that it is made by */
  check(request: FastifyRequest, sid: string): void {
    if (isSafe(request)) return;
    const sent = Buffer.from(String(request.headers[HEADER] ?? ''));
    const right = Buffer.from(this.tokenOf(sid));
    if (sent.length === right.length && timingSafeEqual(sent, right)) return;
    throw new AppError('CSRF_FAILED', 'With the session cookie this takes the X-CSRF-Token of the session');
  }
}
