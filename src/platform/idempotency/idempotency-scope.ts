import { createHmac, hash, type KeyObject } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { deriveKeys, type Keys } from '../config/derive-keys.js';
import { Config } from '../config/config.js';
import { canonicalJson } from './canonical-json.js';

/** Fingerprints of one body, by the current key and by previous ones: the first is stored, a record may have any. */
export type Fingerprints = readonly [string, ...string[]];

/** A request with a key. Keys of different callers and paths are separate. */
export interface KeyedRequest {
  /** The id of the calling account; null for an anonymous caller. */
  readonly caller: number | null;
  readonly method: string;
  /** The path of the route, such as `/v1/posts/:id`, and its parameters; without the query. */
  readonly path: string | undefined;
  readonly params: unknown;
  readonly key: string;
  readonly body?: unknown;
}

/** Identifies equal requests: the caller, the operation, the key and the body. */
@Injectable()
export class IdempotencyScope {
  private readonly keys: Keys;

  constructor(config: Config) {
    this.keys = deriveKeys(config, 'idempotency fingerprints');
  }

  /** Id of the record. */
  idOf({ caller, method, path, params, key }: KeyedRequest): string {
    const scope = JSON.stringify([caller, method, path, params, key]);
    return hash('sha256', scope, 'base64url');
  }

  /**
   * Identifies bodies, regardless of whitespace and the order of members. No body equals `{}`. It is
   * keyed, because a body may contain a password, which must not be guessed from the stored value.
   *
   * @returns the fingerprint to store, then those that the store may have of the same body
   */
  fingerprintsOf(body: unknown = {}): Fingerprints {
    const text = canonicalJson(body);
    const [current, ...previous] = this.keys.accepted;
    const by = (key: KeyObject) => createHmac('sha256', key).update(text).digest('base64url');
    return [by(current), ...previous.map(by)];
  }
}
