/** The little SQL that the two databases spell differently, side by side. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** The moment `:now`, or one millisecond past the column where that is later: it only moves forward. */
  forward(column: string, now: string): string;
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  forward: (column, now) => `max(${now}, strftime('%Y-%m-%dT%H:%M:%fZ', ${column}, '+0.001 seconds'))`,
};

export const POSTGRES: Dialect = {
  name: 'postgres',
  forward: (column, now) => `greatest(${now}::timestamptz, ${column} + interval '1 millisecond')`,
};
