import { Injectable } from '@nestjs/common';
import { AppError, ERRORS } from '../http/errors/errors.js';
import type { StatementParameters } from '../database/statement.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import type { EventFilter, EventRow } from './stored-event.js';
import { EventAppender } from './event-appender.js';
import { EventTypes } from './define-events.js';

const BATCH = 500;

/** Larger data is omitted from pages, and loaded while the page is sent; in bytes. */
const LARGE_DATA = 16 * 1024;

const COLUMNS = ['position', 'epoch', 'type', 'subject', 'time', 'is_private', 'owner_id']
  .map((name) => `event.${name}`)
  .join(', ');

const ID = /^(?<epoch>[\da-f]{12})-(?<position>[1-9]\d{0,14})$/;

export interface LogState {
  /** The position of the last event; 0 if there is none. */
  readonly last: number;
  /** Whether committed events wait for their position. */
  readonly hasUnnumbered: boolean;
}

/** An event, without its data if that is large. */
export type ListedEvent = Omit<EventRow, 'data'> & { readonly data: string | null };

/** What is kept of a purged event. */
export type PurgedEvent = Pick<EventRow, 'position' | 'type'>;

/** The positions of an epoch, and of the log. */
interface EpochRange {
  readonly first: number;
  /** The first position of the next epoch. */
  readonly next: number | null;
  readonly isCurrent: boolean | number;
  /** Whether the oldest kept event at or after `first` belongs to it; an epoch without ids shares it with the next. */
  readonly hasFirst: boolean | number | null;
  readonly last: number;
  readonly oldest: number | null;
}

/** The log of events: one total order by position. */
@Injectable()
export class EventStore {
  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly types: EventTypes,
    private readonly appender: EventAppender,
  ) {}

  async state(): Promise<LogState> {
    const { lastPosition, hasUnnumbered } = this.appender;
    // Not `one`: while an old snapshot lasts, this takes long.
    const [row] = await this.queries.all<{ last: number; unnumbered: boolean | number }>(
      `SELECT ${lastPosition} AS last, ${hasUnnumbered} AS unnumbered FROM event_log WHERE id = 1`,
    );
    return { last: row!.last, hasUnnumbered: Boolean(row!.unnumbered) };
  }

  /**
   * The position of an event, by its id.
   *
   * @throws AppError `INVALID_CURSOR` for an id that never existed, `EVENTS_EXPIRED` for a purged event
   */
  async locate(id: string): Promise<number> {
    const { epoch = '', position: digits = '' } = ID.exec(id)?.groups ?? {};
    const position = Number(digits);
    if (position === 0) throw invalidCursor();
    const found = await this.queries.one(
      'SELECT 1 AS found FROM events WHERE position = :position AND epoch = :epoch',
      {
        position,
        epoch,
      },
    );
    if (found) return position;
    const [range] = await this.queries.all<EpochRange>(
      `SELECT given.first_position AS first, event_log.epoch = given.epoch AS "isCurrent", ${this.appender.lastPosition} AS last,
         (SELECT min(position) FROM events) AS oldest,
         (SELECT epoch FROM events WHERE position >= given.first_position ORDER BY position LIMIT 1)
           = given.epoch AS "hasFirst",
         (SELECT min(first_position) FROM event_epochs WHERE first_position > given.first_position) AS next
       FROM event_epochs AS given, event_log WHERE given.epoch = :epoch AND event_log.id = 1`,
      { epoch },
    );
    if (!range || wasNeverGiven(position, range)) throw invalidCursor();
    throw new AppError('EVENTS_EXPIRED', ERRORS.EVENTS_EXPIRED.message);
  }

  /**
   * Events with their data after a position, in order.
   *
   * @param bytes the maximum size of the data; the first event is returned in any case
   */
  read(
    after: number,
    filter: EventFilter,
    { limit, bytes }: { limit: number; bytes: number },
  ): Promise<EventRow[]> {
    return this.select<EventRow>(after, filter, limit, `${COLUMNS}, event.data`, bytes);
  }

  /** Events after a position for a page, without large data. */
  list(after: number, filter: EventFilter, limit: number): Promise<ListedEvent[]> {
    const data = `CASE WHEN found.bytes <= ${LARGE_DATA} THEN event.data END AS data`;
    return this.select<ListedEvent>(after, filter, limit, `${COLUMNS}, ${data}`);
  }

  /** An event; `undefined` after its purge. */
  find(position: number): Promise<EventRow | undefined> {
    return this.queries.one<EventRow>(
      `SELECT ${COLUMNS}, event.data FROM events AS event WHERE position = :position`,
      { position },
    );
  }

  /**
   * Deletes at most a batch of events up to the first younger one.
   *
   * @param before called with the first and the last position, in the same transaction
   * @returns the deleted events, in order
   */
  async purgeBatch(
    olderThan: Date,
    before: (first: number, last: number) => Promise<void>,
  ): Promise<{ deleted: PurgedEvent[]; isMore: boolean }> {
    const oldest = await this.queries.all<PurgedEvent & { time: string }>(
      `SELECT position, type, time FROM events WHERE position > 0 ORDER BY position LIMIT ${BATCH}`,
    );
    const limit = olderThan.toISOString();
    const young = oldest.findIndex(({ time }) => time > limit);
    const expired = young === -1 ? oldest : oldest.slice(0, young);
    if (expired.length === 0) return { deleted: [], isMore: false };
    const last = expired.at(-1)!.position;
    await this.transactions.run(async () => {
      await before(expired[0]!.position, last);
      await this.transactions.execute('DELETE FROM events WHERE position <= :last', { last });
    });
    return { deleted: expired, isMore: expired.length === BATCH };
  }

  private async select<Row>(
    after: number,
    filter: EventFilter,
    limit: number,
    columns: string,
    bytes = Number.MAX_SAFE_INTEGER,
  ): Promise<Row[]> {
    const { branches, parameters } = this.branchesOf(filter);
    if (branches.length === 0) return [];
    // Each type has its own range in the index, so rare types among a million events are found at once.
    const candidates = branches.map(
      (condition) => `SELECT * FROM (
        SELECT position, octet_length(data) AS bytes FROM events
        WHERE position > :after AND ${condition} ORDER BY position LIMIT :limit) AS branch`,
    );
    return this.queries.all<Row>(
      `SELECT ${columns} FROM (
         SELECT position, bytes, sum(bytes) OVER (ORDER BY position) AS total
         FROM (${candidates.join(' UNION ALL ')}) AS candidate ORDER BY position LIMIT :limit
       ) AS found JOIN events AS event ON event.position = found.position
       WHERE found.total - found.bytes < :bytes ORDER BY event.position`,
      { ...parameters, after, limit, bytes },
    );
  }

  private branchesOf({ viewer, types }: EventFilter): {
    branches: string[];
    parameters: StatementParameters;
  } {
    if (viewer === 'everything' && !types) return { branches: ['TRUE'], parameters: {} };
    const parameters: Record<string, string | number> = {};
    const branches: string[] = [];
    for (const type of types ?? this.types.all) {
      const name = `type${branches.length}`;
      if (viewer === 'everything' || !this.types.isPrivate(type)) {
        branches.push(`type = :${name}${viewer === 'everything' ? '' : ' AND NOT is_private'}`);
      } else if (viewer.accountId !== null) {
        branches.push(`owner_id = :owner AND type = :${name}`);
        parameters['owner'] = viewer.accountId;
      } else {
        continue;
      }
      parameters[name] = type;
    }
    return { branches, parameters };
  }
}

/** Whether no event ever had the position. Positions that a lost server has given out count as given. */
function wasNeverGiven(
  position: number,
  { first, next, isCurrent, hasFirst, last, oldest }: EpochRange,
): boolean {
  if (position < first || (isCurrent && position > last)) return true;
  const isOfThisLog = isCurrent || (hasFirst && next !== null && position < next);
  // Events are purged from the start: a missing position after the oldest event is a gap.
  return Boolean(isOfThisLog) && oldest !== null && position > oldest;
}

const invalidCursor = () => new AppError('INVALID_CURSOR', ERRORS.INVALID_CURSOR.message);
