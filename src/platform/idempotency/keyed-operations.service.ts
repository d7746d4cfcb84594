import { Injectable } from '@nestjs/common';
import type { Versioned } from '../http/responses/expected-version.js';
import { retryConflicts } from '../database/failures.js';
import { createdResponse } from '../http/responses/created.js';
import { missingKey, parseKey } from './idempotency-key.js';
import type { StoredResponse } from './idempotency-records.js';
import { IdempotencyService, KeyedWork } from './idempotency.service.js';

/** A creation over GraphQL that shares the keys of a REST handler. */
export interface KeyedCreation {
  /** The id of the calling account; null where credentials are not looked at. */
  readonly caller: number | null;
  /** The path of the REST handler, a POST without parameters, and of its collection: `/v1/posts`. */
  readonly path: string;
  readonly key: string;
  /** What the body over REST would be. */
  readonly body: object;
}

/** A resource that was created, and its row for the entity tag. */
interface Creation<View extends { readonly id: number | string }> {
  readonly view: View;
  readonly row: Versioned;
}

/**
 * What `@Idempotent({ required: true })` does for a REST handler, for a resolver that creates the same resource: a key
 * that one of them has used is the same key for the other.
 */
@Injectable()
export class KeyedOperations {
  constructor(private readonly idempotency: IdempotencyService) {}

  /**
   * Creates a resource once for each key.
   *
   * @param create its writes commit together with the record; it may run again after a conflict
   * @returns the id of the resource, also if an earlier request has created it
   * @throws AppError `MISSING_IDEMPOTENCY_KEY`, `INVALID_IDEMPOTENCY_KEY`, those of `IdempotencyService`, and the
   * errors of `create`
   */
  async createOnce<View extends { readonly id: number | string }>(
    { caller, path, key, body }: KeyedCreation,
    create: () => Promise<Creation<View>>,
  ): Promise<View['id']> {
    const parsedKey = parseKey(key);
    if (parsedKey === undefined) throw missingKey();
    const request = { caller, method: 'POST', path, params: {}, key: parsedKey, body };
    const response = await retryConflicts(async () => {
      let created: StoredResponse;
      const outcome = await this.idempotency.handle(request, async () => {
        created = createdResponse(path, await create(), caller !== null);
      });
      if (outcome instanceof KeyedWork) {
        await outcome.store(() => created);
        return created!;
      }
      this.idempotency.replays.inc();
      return outcome;
    });
    return (JSON.parse(response.body!) as { data: View }).data.id;
  }
}
