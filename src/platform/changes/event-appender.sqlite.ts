import type { NewEvent } from './define-events.js';
import { EventAppender } from './event-appender.js';
import type { Statement } from '../database/statement.js';

/** There is one writer at a time, so events get their position when they are inserted. */
export class SqliteEventAppender extends EventAppender {
  readonly lastPosition = `coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0)`;
  readonly hasUnnumbered = 'FALSE';
  readonly oldestUnnumbered = 'SELECT time FROM events WHERE FALSE';

  insertion(events: readonly NewEvent[], time: string): Statement {
    return this.insertInto({ epoch: '(SELECT epoch FROM event_log WHERE id = 1)' }, events, time);
  }

  /** The database cannot detect that it was restored; but the process has been restarted since. */
  open(): Promise<void> {
    return this.renewEpoch();
  }

  async number(): Promise<void> {}
}
