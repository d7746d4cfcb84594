import { type KeyObject, createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { deriveKeys, type Keys } from '../../platform/config/derive-keys.js';
import { AppError, ERRORS } from '../../platform/http/errors/errors.js';
import { SecurityEvents } from '../../platform/http/security-events.js';
import { isSafe } from '../../platform/http/methods.js';
import { Config } from '../../platform/config/config.js';

const HEADER = 'x-csrf-token';

/**
 * Browsers also send the cookie with requests that other sites cause; only the site that got the session's
 * token can send that. The token is derived from the session, so it is not stored.
 */
@Injectable()
export class Csrf {
  private readonly keys: Keys;

  constructor(
    config: Config,
    private readonly security: SecurityEvents,
  ) {
    this.keys = deriveKeys(config, 'csrf');
  }

  tokenOf(sid: string): string {
    return sign(this.keys.current, sid);
  }

  check(request: FastifyRequest, sid: string, accountId: number): void {
    if (isSafe(request)) return;
    const sent = Buffer.from(String(request.headers[HEADER] ?? ''));
    const isRight = (key: KeyObject) => {
      const right = Buffer.from(sign(key, sid));
      return sent.length === right.length && timingSafeEqual(sent, right);
    };
    if (this.keys.accepted.some(isRight)) return;
    this.security.record('csrf_failed', { accountId });
    throw new AppError('CSRF_FAILED', ERRORS.CSRF_FAILED.message);
  }
}

const sign = (key: KeyObject, sid: string): string =>
  createHmac('sha256', key).update(sid).digest('base64url');
