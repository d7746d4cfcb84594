import { randomBytes } from 'node:crypto';
import { stringify } from '../http/json-text.js';
import type { Queries } from '../database/queries.js';
import type { Statement } from '../database/statement.js';
import type { Transactions } from '../database/transactions.js';
import type { NewEvent } from './define-events.js';

interface LogRow {
  readonly epoch: string;
  readonly last_position: number;
  readonly server: string;
  readonly current: string;
}

/**
 * Appends events to the log, and gives them their ids: an epoch, which identifies one history of the database,
 * and a position. Each database has its own appender.
 */
export abstract class EventAppender {
  /** The last position, in a query of `event_log`. */
  abstract readonly lastPosition: string;
  /** A condition: whether committed events wait for their position. */
  abstract readonly hasUnnumbered: string;
  /** Selects the `time` of the oldest event that waits for its position. */
  abstract readonly oldestUnnumbered: string;

  constructor(
    protected readonly queries: Queries,
    protected readonly transactions: Transactions,
  ) {}

  abstract insertion(events: readonly NewEvent[], time: string): Statement;

  /** Call it at start: a restored database must not give out the same ids again. */
  abstract open(): Promise<void>;

  abstract number(): Promise<void>;

  /** Later ids begin with another epoch. */
  async renewEpoch(): Promise<void> {
    await this.transactions.run(async () => this.beginEpoch(await this.lockLog()));
  }

  /** Identifies the server and its history, as an expression. */
  protected get server(): string {
    return `''`;
  }

  protected async lockLog(): Promise<LogRow> {
    const [log] = await this.transactions.execute<LogRow>(
      `SELECT epoch, ${this.lastPosition} AS last_position, server, ${this.server} AS current
       FROM event_log WHERE id = 1 ${this.queries.dialect.lockRowsForUpdate}`,
    );
    return log!;
  }

  protected async beginEpoch(log: LogRow): Promise<void> {
    const epoch = randomBytes(6).toString('hex');
    await this.transactions.execute('UPDATE event_log SET epoch = :epoch, server = :server WHERE id = 1', {
      epoch,
      server: log.current,
    });
    await this.transactions.execute(
      'INSERT INTO event_epochs (epoch, first_position) VALUES (:epoch, :first)',
      { epoch, first: log.last_position + 1 },
    );
  }

  /** @param columns further columns with their values, such as `{ epoch: '…' }` */
  protected insertInto(
    columns: Readonly<Record<string, string>>,
    events: readonly NewEvent[],
    time: string,
  ): Statement {
    const { dialect } = this.queries;
    const names = [...Object.keys(columns), 'type, subject, time, data, is_private, owner_id'].join(', ');
    const values = Object.values(columns).map((value) => `${value}, `);
    const [event, ...more] = events;
    if (event && more.length === 0) {
      const { type, subject, data, isPrivate, ownerId } = event;
      return {
        sql: `INSERT INTO events (${names})
          VALUES (${values.join('')}:type, :subject, :time, :data, ${isPrivate ? 'TRUE' : 'FALSE'}, :ownerId)`,
        parameters: { type, subject, time, data: toLine(data), ownerId },
      };
    }
    return {
      sql: `INSERT INTO events (${names})
        SELECT ${values.join('')}event.value ->> 'type', event.value ->> 'subject', ${dialect.toTimestamp(':time')},
          event.value ->> 'data', CAST(event.value ->> 'isPrivate' AS boolean), CAST(event.value ->> 'ownerId' AS bigint)
        FROM ${dialect.elementsOf(':events')} AS event`,
      parameters: {
        time,
        events: JSON.stringify(events.map((each) => ({ ...each, data: toLine(each.data) }))),
      },
    };
  }
}

/** On one line, for the stream: JSON has line breaks only between its tokens. */
const toLine = (data: object): string => stringify(data).replaceAll(/[\r\n]/g, ' ');
