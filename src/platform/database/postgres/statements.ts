import type { Pool, QueryConfig, QueryResult } from 'pg';
import { isStalePlan } from '../failures.js';
import { type StatementParameters, replacePlaceholders } from '../statement.js';

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
  private count = 0;

  /**
   * @param prepared false behind a pooler that does not support it
   * @param explain the error to throw for one of a statement
   */
  constructor(
    private readonly prepared: boolean,
    private readonly explain: (error: unknown, sql: string) => unknown,
  ) {}

  /** Runs a statement outside of a transaction: again, if a change of its table has made the plan invalid. */
  async all<Row>(sql: string, parameters: StatementParameters | undefined, pool: Pool): Promise<Row[]> {
    try {
      return (await this.run(sql, parameters, pool)).rows as Row[];
    } catch (error) {
      if (!isStalePlan(error)) throw error;
      return (await this.run(sql, parameters, pool)).rows as Row[];
    }
  }

  async run(sql: string, parameters: StatementParameters = {}, target: Target): Promise<QueryResult> {
    const statement = this.prepare(sql);
    const { name, text, names } = statement;
    const query = {
      ...(name !== undefined && { name }),
      text,
      values: names.map((each) => parameters[each]),
    };
    try {
      return await target.query(query);
    } catch (error) {
      // Other connections have the old plan, too, under this name.
      if (isStalePlan(error) && this.cache.get(sql) === statement) this.cache.delete(sql);
      throw this.explain(error, text);
    }
  }

  private prepare(sql: string): Prepared {
    let statement = this.cache.get(sql);
    if (!statement) {
      statement = { ...(this.prepared && { name: `s${this.count++}` }), ...compile(sql) };
      this.cache.set(sql, statement);
    }
    return statement;
  }
}

/** Turns each `:name` into `$1`, `$2` … */
function compile(sql: string): Omit<Prepared, 'name'> {
  const names: string[] = [];
  const text = replacePlaceholders(sql, (name) => {
    if (!names.includes(name)) names.push(name);
    return `$${names.indexOf(name) + 1}`;
  });
  return { text, names };
}
