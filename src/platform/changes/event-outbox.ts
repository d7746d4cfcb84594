import { Injectable } from '@nestjs/common';
import { Clock } from '../jobs/clock.js';
import type { Statement } from '../database/statement.js';
import { Transactions } from '../database/transactions.js';
import { CommittedEvents } from './committed-events.js';
import type { EventsOf, NewEvent } from './define-events.js';
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

  /**
   * Runs a statement that changes rows, and records an event for each returned row, in one transaction; for
   * paths where {@link record} is too slow. On PostgreSQL one statement changes the rows and inserts the events, whose
   * data SQL builds from the `columns` of the definition; on SQLite a second statement inserts what `toView` returns.
   *
   * @param toView converts a returned row
   */
  async change<Change extends string, Row extends { readonly id: unknown }>(
    definition: EventsOf<Change>,
    change: NoInfer<Change>,
    statement: Statement,
    toView: (row: Row) => { readonly id: unknown },
    { ownerId = null }: { readonly ownerId?: number | null } = {},
  ): Promise<Row[]> {
    // The audit log writes in the same transaction, so there must be a unit of work.
    if (!this.transactions.isActive && this.transactions.hasParticipants) {
      return this.transactions.run(() => this.change(definition, change, statement, toView, { ownerId }));
    }
    const eventOf = (row: Row) => definition.of(change, toView(row), { ownerId });
    const time = this.now();
    const rows = await this.appender.change({ definition, change, statement, ownerId, time, eventOf });
    for (const { id } of rows) this.transactions.addSubject(definition.subjectOf(id));
    if (rows.length > 0) this.transactions.onCommit(() => this.committed.report(() => rows.map(eventOf)));
    return rows;
  }

  private now(): string {
    return this.clock.now().toISOString();
  }
}
