/** The form of a column in a view: unchanged, as text (the ids of version 2), or as a time. */
export type ExportedColumn = 'value' | 'text' | 'moment';

const MOMENT = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;

/** A column on PostgreSQL in the form of the view. */
export const exported = (name: string, kind: ExportedColumn): string =>
  ({
    value: name,
    text: `CAST(${name} AS text) AS ${name}`,
    moment: `to_char(${name} AT TIME ZONE 'UTC', ${MOMENT}) AS ${name}`,
  })[kind];
