import { Injectable } from '@nestjs/common';
import { Clock } from '../jobs/clock.js';
import { Transactions } from '../database/transactions.js';
import { CommittedEvents } from './committed-events.js';
import type { NewEvent } from './define-events.js';
import { EventAppender } from './event-appender.js';

/** Records events in the transaction of their change: neither exists without the other. */
@Injectable()
export class EventOutbox {
  constructor(
    private readonly transactions: Transactions,
    private readonly appender: EventAppender,
    private readonly clock: Clock,
    private readonly committed: CommittedEvents,
  ) {}

  /**
   * Records events in the current unit of work, after the change.
   *
   * @throws Error outside of a unit of work, where a crash could separate the event from its change
   */
  async record(...events: readonly NewEvent[]): Promise<void> {
    if (events.length === 0) return;
    if (!this.transactions.isActive) {
      throw new Error('Events are recorded with their change: call record() within Transactions.run()');
    }
    const { sql, parameters } = this.appender.insertion(events, this.now());
    await this.transactions.execute(sql, parameters);
    for (const { subject } of events) this.transactions.addSubject(subject);
    // For listeners in this process; all other consumers read the table.
    this.transactions.onCommit(() => this.committed.report(() => events));
  }

  private now(): string {
    return this.clock.now().toISOString();
  }
}
