import type { Pool, PoolClient } from 'pg';
import type { DataSource } from 'typeorm';
import { type Parameters, PLACEHOLDER } from '../parameters.js';

interface Compiled {
  /** Absent where statements are not to be prepared. */
  readonly name: string | undefined;
  readonly text: string;
  readonly parameters: readonly string[];
}

/** The pool of the driver behind a data source. */
export const poolOf = ({ driver }: DataSource): Pool => (driver as unknown as { master: Pool }).master;

/** The driver's own pool. A statement that has a name is prepared once by each connection. */
export class PostgresConnection {
  private readonly statements = new Map<string, Compiled>();

  constructor(
    private readonly pool: Pool,
    private readonly prepared: boolean,
  ) {}

  /** @param on the connection of a transaction; else any of the pool */
  all<Row>(sql: string, values: Parameters = {}, on: Pool | PoolClient = this.pool): Promise<Row[]> {
    let statement = this.statements.get(sql);
    if (!statement) {
      const name = this.prepared ? `s${this.statements.size}` : undefined;
      this.statements.set(sql, (statement = compile(sql, name)));
    }
    const { name, text, parameters } = statement;
    return on
      .query({
        ...(name !== undefined && { name }),
        text,
        values: parameters.map((parameter) => values[parameter]),
      })
      .then(({ rows }) => rows as Row[]);
  }
}

/** Turns `:name` into `$1`; a cast (`::text`) is left alone. */
function compile(sql: string, name: string | undefined): Compiled {
  const parameters: string[] = [];
  const text = sql.replaceAll(PLACEHOLDER, (_, parameter: string) => {
    if (!parameters.includes(parameter)) parameters.push(parameter);
    return `$${parameters.indexOf(parameter) + 1}`;
  });
  return { name, text, parameters };
}
