/** The little SQL that the two databases spell differently, side by side. */
export interface Dialect {
  /** The moment `:now`, or one millisecond past the column where that is later: it only moves forward. */
  forward(column: string, now: string): string;
  /** Whether a text column contains a text, to the letter: no wildcards. */
  contains(column: string, text: string): string;
}

export const SQLITE: Dialect = {
  forward: (column, now) => `max(${now}, strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, '+0.001 seconds'))`,
  contains: (column, text) => `instr(${column}, ${text}) > 0`,
};

export const POSTGRES: Dialect = {
  forward: (column, now) => `greatest(${now}::timestamptz, ${column} + interval '1 millisecond')`,
  contains: (column, text) => `strpos(${column}, ${text}::text) > 0`,
};
