import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AppError } from '../common/errors/errors.js';
import { MESSAGES } from '../common/errors/messages.js';
import { isNotPermitted } from '../database/failures.js';
import type { Parameters } from '../database/parameters.js';
import { Queries } from '../database/queries.js';
import { Transactions } from '../database/transactions.js';
import { type EpochRange, wasNeverGiven } from './epoch-range.js';
import type { EventFilter } from './event-filter.js';
import { EventTypes } from './event-types.js';
import type { EventRow } from './stored-event.js';

/** Events to a transaction that numbers or purges them. */
const BATCH = 500;

/** Larger data is left out of pages, and loaded one by one while the page is sent; in bytes. */
const LARGE_DATA = 16 * 1024;

const COLUMNS = ['position', 'epoch', 'type', 'subject', 'time', 'is_private', 'owner_id']
  .map((name) => `event.${name}`)
  .join(', ');

const ID = /^(?<epoch>[\da-f]{12})-(?<position>[1-9]\d{0,14})$/;

/** Listeners to this channel look for new events. */
export const CHANNEL = 'events';

export interface LogState {
  /** Of the last event that has one; 0 before the first. */
  readonly last: number;
  /** Whether committed events wait for their position. */
  readonly hasUnnumbered: boolean;
}

interface LogRow {
  readonly epoch: string;
  readonly last_position: number;
  readonly server: string;
  readonly current: string;
}

/** An event without its data where that is large. */
export type ListedEvent = Omit<EventRow, 'data'> & { readonly data: string | null };

/** What is known of an event after its purge. */
export type PurgedEvent = Pick<EventRow, 'position' | 'type'>;

/** The log of events: one total order, in which an event is found by its position. */
@Injectable()
export class EventStore {
  private readonly isPostgres: boolean;
  /** The last position, in a query of `event_log`. */
  private readonly last: string;
  private readonly unnumbered: string;
  /** What {@link Dialect.server} gives, unless the database rejects it. */
  private server: string | undefined;
  /** Whether {@link server} is final. */
  private isIdentified = false;

  constructor(
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly types: EventTypes,
  ) {
    this.isPostgres = queries.dialect.name === 'postgres';
    this.last = this.isPostgres
      ? 'last_position'
      : `coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)`;
    this.unnumbered = this.isPostgres ? 'EXISTS (SELECT 1 FROM events WHERE position IS NULL)' : 'FALSE';
    this.server = queries.dialect.server;
  }

  /** Call it when a process starts: a database that was restored must not give out the same ids again. */
  async open(): Promise<void> {
    // An embedded database cannot tell that it was restored; but then the process was started since.
    if (!this.isPostgres) return this.renewEpoch();
    await this.identify();
  }

  /** Where the log ends. */
  async state(): Promise<LogState> {
    const row = await this.queries.one<{ last: number; unnumbered: boolean | number }>(
      `SELECT ${this.last} AS last, ${this.unnumbered} AS unnumbered FROM event_log WHERE id = 1`,
    );
    return { last: row!.last, hasUnnumbered: Boolean(row!.unnumbered) };
  }

  /**
   * Gives positions to the events that have committed, in the order of their ids, and signals it. One process at a time
   * does so: the others wait for the lock of the one row. On SQLite events have their position from the beginning.
   */
  async number(): Promise<void> {
    if (!this.isPostgres) return;
    await this.identify();
    for (let count = BATCH; count === BATCH;) count = await this.numberBatch();
  }

  /** From now on, ids begin with another epoch. */
  async renewEpoch(): Promise<void> {
    if (this.isPostgres) await this.identify();
    await this.transactions.run(async () => {
      const log = await this.lockLog();
      await this.beginEpoch(log);
    });
  }

  /**
   * The position of an event, by its id.
   *
   * @throws AppError `INVALID_CURSOR` for an id that never existed, `EVENTS_EXPIRED` for an event that is gone
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
    const range = await this.queries.one<EpochRange>(
      `SELECT given.first_position AS first, event_log.epoch = given.epoch AS "isCurrent", ${this.last} AS last,
         (SELECT min(position) FROM events) AS oldest,
         (SELECT epoch FROM events WHERE position >= given.first_position ORDER BY position LIMIT 1)
           = given.epoch AS "hasFirst",
         (SELECT min(first_position) FROM event_epochs WHERE first_position > given.first_position) AS next
       FROM event_epochs AS given, event_log WHERE given.epoch = :epoch AND event_log.id = 1`,
      { epoch },
    );
    if (!range || wasNeverGiven(position, range)) throw invalidCursor();
    throw new AppError('EVENTS_EXPIRED', MESSAGES.EVENTS_EXPIRED);
  }

  /**
   * Events after a position, whole, in their order.
   *
   * @param bytes how much data there may be; one event comes in any case
   */
  read(
    after: number,
    filter: EventFilter,
    { limit, bytes }: { limit: number; bytes: number },
  ): Promise<EventRow[]> {
    return this.select<EventRow>(after, filter, limit, `${COLUMNS}, event.data`, bytes);
  }

  /** Events after a position for a page; without their data where that is large. */
  list(after: number, filter: EventFilter, limit: number): Promise<ListedEvent[]> {
    const data = `CASE WHEN found.bytes <= ${LARGE_DATA} THEN event.data END AS data`;
    return this.select<ListedEvent>(after, filter, limit, `${COLUMNS}, ${data}`);
  }

  /** The data of an event; `undefined` after it was purged. */
  async dataAt(position: number): Promise<string | undefined> {
    const row = await this.queries.one<{ data: string }>(
      'SELECT data FROM events WHERE position = :position',
      {
        position,
      },
    );
    return row?.data;
  }

  /** An event; `undefined` after it was purged. */
  find(position: number): Promise<EventRow | undefined> {
    return this.queries.one<EventRow>(
      `SELECT ${COLUMNS}, event.data FROM events AS event WHERE position = :position`,
      { position },
    );
  }

  /** Deletes events up to the first that is younger, at most a batch. @returns what it has deleted, in order */
  async purgeBatch(olderThan: Date): Promise<{ deleted: PurgedEvent[]; isMore: boolean }> {
    const oldest = await this.queries.all<PurgedEvent & { time: string }>(
      `SELECT position, type, time FROM events WHERE position > 0 ORDER BY position LIMIT ${BATCH}`,
    );
    const limit = olderThan.toISOString();
    const young = oldest.findIndex(({ time }) => time > limit);
    const expired = young === -1 ? oldest : oldest.slice(0, young);
    if (expired.length === 0) return { deleted: [], isMore: false };
    await this.transactions.execute('DELETE FROM events WHERE position <= :last', {
      last: expired.at(-1)!.position,
    });
    return { deleted: expired, isMore: expired.length === BATCH };
  }

  /** An outage says nothing: replicas that disagreed about the server would begin epochs in turn. */
  private async identify(): Promise<void> {
    if (this.isIdentified) return;
    try {
      await this.queries.one(`SELECT ${this.server} AS current`);
    } catch (error) {
      if (!isNotPermitted(error)) throw error;
      // Some managed servers do not let applications ask. `npm run events -- renew-epoch` is left.
      this.server = `''`;
    }
    this.isIdentified = true;
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
    // Each type by its own range of the index: a type that is rare among a million events is found at once.
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

  private branchesOf({ viewer, types }: EventFilter): { branches: string[]; parameters: Parameters } {
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

  private async numberBatch(): Promise<number> {
    // In one statement, which runs many times a second. Whoever has waited for the lock has the counter as it is then,
    // and leaves out the events that were numbered meanwhile, though it may still see them without a position. Their
    // places stay empty.
    const [result] = await this.transactions.execute<{ count: number; is_current: boolean }>(
      `WITH log AS (
         SELECT epoch, last_position FROM event_log WHERE id = 1 AND server = ${this.server ?? `''`} FOR UPDATE
       ), next AS (
         SELECT id, row_number() OVER (ORDER BY id) AS place
         FROM (SELECT id FROM events WHERE position IS NULL ORDER BY id LIMIT ${BATCH}) AS committed
       ), numbered AS (
         UPDATE events SET epoch = log.epoch, position = log.last_position + next.place
         FROM log, next WHERE events.id = next.id AND events.position IS NULL RETURNING events.position
       ), counted AS (
         UPDATE event_log SET last_position = (SELECT max(position) FROM numbered)
         FROM log WHERE event_log.id = 1 AND EXISTS (SELECT 1 FROM numbered)
         RETURNING ${this.queries.dialect.notify(CHANNEL)}
       )
       SELECT (SELECT count(*) FROM next) AS count, EXISTS (SELECT 1 FROM log) AS is_current,
         (SELECT count(*) FROM counted) AS signals`,
    );
    const { count, is_current: isCurrent } = result!;
    if (isCurrent) return count;
    await this.transactions.run(async () => {
      const log = await this.lockLog();
      if (log.current !== log.server) await this.beginEpoch(log);
    });
    return BATCH;
  }

  private async lockLog(): Promise<LogRow> {
    const [log] = await this.transactions.execute<LogRow>(
      `SELECT epoch, ${this.last} AS last_position, server, ${this.server ?? `''`} AS current
       FROM event_log WHERE id = 1 ${this.queries.dialect.lockRowsForUpdate}`,
    );
    return log!;
  }

  private async beginEpoch(log: LogRow): Promise<void> {
    const epoch = randomBytes(6).toString('hex');
    await this.transactions.execute('UPDATE event_log SET epoch = :epoch, server = :server WHERE id = 1', {
      epoch,
      server: log.current,
    });
    await this.transactions.execute(
      'INSERT INTO event_epochs (epoch, first_position) VALUES (:epoch, :first)',
      {
        epoch,
        first: log.last_position + 1,
      },
    );
  }
}

const invalidCursor = () => new AppError('INVALID_CURSOR', MESSAGES.INVALID_CURSOR);
