import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { SearchQueue } from '../database/queries.js';
import { WorkQueue } from '../http/work-queue.js';
import { networkOf } from '../http/client.js';
import { currentContext } from '../http/request-context.js';

/**
 * The number of searches that may wait. A quarter of it, the share of one client, holds the totals and searches of one
 * GraphQL operation: 39 of them cost less than the default limit of 20,000.
 */
const CAPACITY = 160;

/** How long a search may wait, in milliseconds: longer than another one may run. */
const PATIENCE = 10_000;

/** Lets the clients search in turn: one client that sends many delays those of another one by one search. */
@Injectable()
export class SearchesByClient implements SearchQueue {
  private readonly queue: WorkQueue<'search'>;

  constructor(database: Database) {
    this.queue = new WorkQueue({
      concurrency: database.searches,
      capacity: CAPACITY,
      patience: PATIENCE,
      full: 'Too many searches are waiting; retry later',
    });
    database.queries.searchQueue = this;
  }

  get waiting(): number {
    return this.queue.waitingCount('search');
  }

  /** @throws AppError `SERVICE_UNAVAILABLE` when too many searches wait, or this one has waited for too long */
  run<T>(search: () => Promise<T>): Promise<T> {
    const client = currentContext()?.client;
    return this.queue.run('search', client && networkOf(client.address), search);
  }
}
