import type { EventsOf } from './define-events.js';
import { exported } from './exported-columns.js';

/** Combines a statement and the insertion of its events: a transaction would take four round trips. */
export function withEvents<Change extends string>(
  definition: EventsOf<Change>,
  change: Change,
  statement: string,
): string {
  const { collection, isPrivate } = definition;
  const columns = Object.entries(definition.columnsAfter(change)).map(([name, kind]) => exported(name, kind));
  return `
    WITH changed AS (${statement}), recorded AS (
      INSERT INTO events (type, subject, time, data, is_private)
      SELECT '${definition.typeOf(change)}', '${collection}/' || changed.id, CAST(:eventTime AS timestamptz),
        (SELECT CAST(row_to_json(shown) AS text) FROM (SELECT ${columns.join(', ')}) AS shown),
        ${isPrivate}
      FROM changed
    )
    SELECT * FROM changed`;
}
