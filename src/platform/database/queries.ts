import type { ObjectLiteral, Repository } from 'typeorm';
import type { Dialect } from './dialect.js';
import type { StatementParameters } from './statement.js';
import type { ServiceDataSource } from './service-data-source.js';
import type { Transactions } from './transactions.js';

/** Limits slow reads by client, which the database does not know. */
export interface SearchQueue {
  /** The number of reads that wait. */
  readonly waiting: number;
  run<T>(search: () => Promise<T>): Promise<T>;
}

/**
 * Reads by SQL, for paths where the repository is too slow: each statement is prepared once, and its
 * rows are plain objects with integers as numbers and timestamps as RFC 3339 text. Statements are cached by
 * their text, so the text must never contain values. Within a unit of work that has written, all methods read what
 * was written.
 *
 * | Method   | For                                                    | On PostgreSQL                   | On SQLite             |
 * | -------- | ------------------------------------------------------ | ------------------------------- | --------------------- |
 * | `one`    | the only row: by a key                                 | a connection of the pool        | the event loop        |
 * | `all`    | some milliseconds: lists in the order of an index      | a connection of the pool        | the event loop        |
 * | `search` | what may read a whole table                            | one of few, for eight seconds   | a thread of its own   |
 */
export class Queries {
  /** Where slow reads wait; without it, they run at once. */
  searchQueue: SearchQueue | undefined;

  constructor(
    private readonly transactions: Transactions,
    private readonly source: ServiceDataSource,
  ) {}

  /** The SQL that differs between the two databases. */
  get dialect(): Dialect {
    return this.source.dialect;
  }

  all<Row>(sql: string, parameters?: StatementParameters): Promise<Row[]> {
    if (this.source.unit?.isInTransaction) return this.transactions.execute<Row>(sql, parameters);
    return this.source.read<Row>(sql, parameters);
  }

  /**
   * Like `all`, for slow reads: it does not delay others, and is stopped after 8 seconds. On SQLite,
   * only a statement with `dialect.withinDeadline` among its conditions can be stopped.
   *
   * @throws Error that becomes a 503, when the read takes too long or too many are waiting
   */
  search<Row>(sql: string, parameters?: StatementParameters): Promise<Row[]> {
    if (this.source.unit?.isInTransaction) return this.transactions.execute<Row>(sql, parameters);
    const search = () => this.source.readSlowly<Row>(sql, parameters);
    return this.searchQueue ? this.searchQueue.run(search) : search();
  }

  /** The only row. */
  async one<Row>(sql: string, parameters?: StatementParameters): Promise<Row | undefined> {
    const [row] = await this.all<Row>(sql, parameters);
    return row;
  }
}

/** A row of a list that belongs to a parent. */
type Child = ObjectLiteral & { readonly id: number };

/**
 * Reads the newest rows of each parent, which have the highest ids, by one statement. With an index on the column of the
 * parent and the id, it reads no other rows.
 *
 * @param parent the property that has the id of the parent
 * @param page at most `limit` rows of each parent, with ids below `before`
 * @public
 */
export function newestOfEach<Row extends Child>(
  rows: Repository<Row>,
  parent: keyof Row & string,
  parentIds: readonly number[],
  { before = Number.MAX_SAFE_INTEGER, limit }: { before?: number | undefined; limit: number },
): Promise<Row[]> {
  const { metadata, manager } = rows;
  const { dialect } = manager.connection as ServiceDataSource;
  const column = metadata.findColumnWithPropertyName(parent)!.databaseName;
  return rows
    .createQueryBuilder('child')
    .where(`child.id IN (${dialect.highestIdsOfEach(metadata.tableName, column)})`, {
      parents: JSON.stringify(parentIds),
      before,
      limit,
    })
    .orderBy('child.id', 'DESC')
    .getMany();
}

/**
 * The number of rows of each parent that has any.
 *
 * @param parent the property that has the id of the parent
 * @public
 */
export async function countOfEach<Row extends Child>(
  rows: Repository<Row>,
  parent: keyof Row & string,
  parentIds: readonly number[],
): Promise<Map<number, number>> {
  const counted = await rows
    .createQueryBuilder('child')
    .select(`child.${parent}`, 'id')
    .addSelect('count(*)', 'total')
    .where(`child.${parent} IN (:...parentIds)`, { parentIds })
    .groupBy(`child.${parent}`)
    .getRawMany<{ id: unknown; total: unknown }>();
  return new Map(counted.map(({ id, total }) => [Number(id), Number(total)]));
}
