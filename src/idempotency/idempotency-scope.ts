import { createHmac, hash, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { deriveKeys, type Keys } from '../config/derive-keys.js';
import { Config } from '../config/config.js';
import { canonicalJson } from './canonical-json.js';

/** Of one body: the first is stored, and the store may have any of them. */
export type Fingerprints = readonly [string, ...string[]];

/** Identifies equal requests: the caller, the operation, the key and the body. */
@Injectable()
export class IdempotencyScope {
  private readonly keys: Keys;

  constructor(config: Config) {
    this.keys = deriveKeys(config, 'idempotency fingerprints');
  }

  /** Id of the record: keys of different callers and paths are separate. The query is ignored. */
  idOf(request: FastifyRequest, key: string): string {
    const { method, routeOptions, params } = request;
    const caller = request.user?.id ?? null;
    const scope = JSON.stringify([caller, method, routeOptions.url, params, key]);
    return hash('sha256', scope, 'base64url');
  }

  /**
   * Identifies bodies, regardless of whitespace and the order of members. No body equals `{}`. It is
   * keyed, because a body may contain a password, which must not be guessed from the stored value.
   *
   * @returns the fingerprint to store, then those that the store may have of the same body
   */
  fingerprintsOf({ body = {} }: FastifyRequest): Fingerprints {
    const text = canonicalJson(body);
    const [current, ...previous] = this.keys.accepted;
    const by = (key: KeyObject) => createHmac('sha256', key).update(text).digest('base64url');
    return [by(current), ...previous.map(by)];
  }
}
