import { Injectable } from '@nestjs/common';
import { Clock } from '../common/ports/clock.js';
import { stringify } from '../common/http/json-text.js';
import { Queries } from '../database/queries.js';
import { type Statement, Transactions } from '../database/transactions.js';
import { CommittedEvents } from './committed-events.js';
import type { EventsOf, NewEvent } from './define-events.js';
import { withEvents } from './event-outbox.postgres.js';

/** Records events in the transaction of their change: neither exists without the other. */
@Injectable()
export class EventOutbox {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
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
    if (!this.transactions.isUnderWay) {
      throw new Error('Events are recorded with their change: call record() within Transactions.run()');
    }
    const { sql, parameters } = this.insertion(events);
    await this.transactions.execute(sql, parameters);
    for (const { subject } of events) this.transactions.about(subject);
    this.transactions.onCommit(() => this.committed.report(() => events));
  }

  /**
   * Runs a statement that changes rows, and records an event for each returned row, in one transaction; for
   * paths where {@link record} is too slow. The definition has the columns of the view.
   *
   * @param toView converts a returned row
   */
  async change<Change extends string, Row extends { readonly id: unknown }>(
    definition: EventsOf<Change>,
    change: NoInfer<Change>,
    statement: Statement,
    toView: (row: Row) => { readonly id: unknown },
  ): Promise<Row[]> {
    // Companions require a transaction, and the subjects of the change.
    if (!this.transactions.isUnderWay && this.transactions.isAccompanied) {
      return this.transactions.run(() => this.change(definition, change, statement, toView));
    }
    const eventsOf = (rows: readonly Row[]) => rows.map((row) => definition.of(change, toView(row)));
    const rows =
      this.queries.dialect.name === 'postgres'
        ? await this.changeAtOnce<Row>(withEvents(definition, change, statement.sql), statement)
        : await this.transactions.executeBoth<Row>(statement, (changed) =>
            changed.length === 0 ? undefined : this.insertion(eventsOf(changed)),
          );
    for (const { id } of rows) this.transactions.about(definition.subjectOf(id));
    if (rows.length > 0) this.transactions.onCommit(() => this.committed.report(() => eventsOf(rows)));
    return rows;
  }

  private changeAtOnce<Row>(sql: string, { parameters }: Statement): Promise<Row[]> {
    return this.transactions.execute<Row>(sql, { ...parameters, eventTime: this.now() });
  }

  private insertion(events: readonly NewEvent[]): Statement {
    const [event, ...more] = events.map((each) => ({ ...each, data: dataOf(each) }));
    const { dialect } = this.queries;
    // On PostgreSQL, the epoch is set with the position.
    const [column, epoch] =
      dialect.name === 'sqlite' ? ['epoch, ', '(SELECT epoch FROM event_log WHERE id = 1), '] : ['', ''];
    const columns = `${column}type, subject, time, data, is_private, owner_id`;
    if (more.length === 0) {
      const { isPrivate, ...parameters } = event!;
      return {
        sql: `INSERT INTO events (${columns})
          VALUES (${epoch}:type, :subject, :time, :data, ${isPrivate ? 'TRUE' : 'FALSE'}, :ownerId)`,
        parameters: { ...parameters, time: this.now() },
      };
    }
    return {
      sql: `INSERT INTO events (${columns})
        SELECT ${epoch}event.value ->> 'type', event.value ->> 'subject', ${dialect.toTimestamp(':time')},
          event.value ->> 'data', CAST(event.value ->> 'isPrivate' AS boolean), CAST(event.value ->> 'ownerId' AS bigint)
        FROM ${dialect.elementsOf(':events')} AS event`,
      parameters: { time: this.now(), events: JSON.stringify([event, ...more]) },
    };
  }

  private readonly now = (): string => this.clock.now().toISOString();
}

/** On one line, for the stream: JSON has line breaks only between its tokens. */
const dataOf = ({ data }: NewEvent): string => stringify(data).replaceAll(/[\r\n]/g, ' ');
