import { createHash, createHmac } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { deriveKeys, type Keys } from '../common/crypto/derive-keys.js';
import { Config } from '../config/config.js';
import { canonicalJson } from './canonical-json.js';

/** Of one body: the first is stored, and each of them may be in the store. */
export type Fingerprints = readonly [string, ...string[]];

/** What makes two requests the same: who asks what under which key, and with which body. */
@Injectable()
export class IdempotencyScope {
  private readonly keys: Keys;

  constructor(config: Config) {
    this.keys = deriveKeys(config, 'idempotency fingerprints');
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
   *
   * @returns the fingerprint to store, then those that the same body may have in the store
   */
  fingerprintsOf({ body = {} }: FastifyRequest): Fingerprints {
    const text = canonicalJson(body);
    const [current, ...previous] = this.keys.accepted;
    const by = (key: Buffer) => createHmac('sha256', key).update(text).digest('base64url');
    return [by(current), ...previous.map(by)];
  }
}
