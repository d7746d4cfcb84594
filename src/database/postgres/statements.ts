import type { QueryConfig, QueryResult } from 'pg';
import { type Parameters, replacePlaceholders } from '../statement.js';
import { traced } from '../statement-span.js';

interface Prepared {
  readonly name?: string;
  readonly text: string;
  /** The names of the parameters, in the order of their numbers. */
  readonly names: readonly string[];
}

/** Where a statement runs: a pool or a connection. */
interface Target {
  query(statement: QueryConfig): Promise<QueryResult>;
}

/** Statements with named placeholders. Each connection prepares a statement once, by its name. */
export class Statements {
  private readonly cache = new Map<string, Prepared>();

  /** @param prepared false behind a pooler that does not support it */
  constructor(private readonly prepared: boolean) {}

  async all<Row>(sql: string, parameters: Parameters | undefined, target: Target): Promise<Row[]> {
    return (await this.run(sql, parameters, target)).rows as Row[];
  }

  run(sql: string, parameters: Parameters = {}, target: Target): Promise<QueryResult> {
    let statement = this.cache.get(sql);
    if (!statement) {
      statement = { ...(this.prepared && { name: `s${this.cache.size}` }), ...compile(sql) };
      this.cache.set(sql, statement);
    }
    const { name, text, names } = statement;
    const query = {
      ...(name !== undefined && { name }),
      text,
      values: names.map((each) => parameters[each]),
    };
    return traced('postgresql', text, () => target.query(query));
  }
}

/** Turns each `:name` into `$1`, `$2` … */
function compile(sql: string): Prepared {
  const names: string[] = [];
  const text = replacePlaceholders(sql, (name) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, names };
}
