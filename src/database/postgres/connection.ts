import type { Pool, QueryConfig, QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { traced } from '../statement-span.js';
import { type Parameters, replacePlaceholders } from '../parameters.js';

interface Statement {
  readonly text: string;
  /** The names of the parameters, in the order of their numbers. */
  readonly names: readonly string[];
}

/** Where a statement runs. */
interface Runner {
  query(statement: QueryConfig): Promise<QueryResult>;
}

/** The connection pool of a data source. */
export const poolOf = ({ driver }: DataSource): Pool => (driver as unknown as { master: Pool }).master;

/** Queries on a pool. Each connection prepares a statement once, by its name. */
export class PostgresConnection {
  private readonly statements = new Map<string, Statement & { readonly name?: string }>();

  constructor(
    private readonly pool: Pool,
    private readonly prepared: boolean,
  ) {}

  /** @param on the pool, or a pipeline for short reads */
  async all<Row>(sql: string, parameters: Parameters = {}, on: Runner = this.pool): Promise<Row[]> {
    return (await this.run(sql, parameters, on)).rows as Row[];
  }

  /** @param on the connection of a transaction, the pool or a pipeline of reads */
  run(sql: string, parameters: Parameters, on: Runner): Promise<Pick<QueryResult, 'rows' | 'rowCount'>> {
    let statement = this.statements.get(sql);
    if (!statement) {
      statement = { ...compile(sql), ...(this.prepared && { name: `s${this.statements.size}` }) };
      this.statements.set(sql, statement);
    }
    const { name, text, names } = statement;
    const query = {
      ...(name !== undefined && { name }),
      text,
      values: names.map((each) => parameters[each]),
    };
    return traced('postgresql', text, () => on.query(query));
  }
}

/** Turns each `:name` into `$1`, `$2` … */
function compile(sql: string): Statement {
  const names: string[] = [];
  const text = replacePlaceholders(sql, (name) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, names };
}
