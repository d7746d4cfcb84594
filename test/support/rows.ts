import type { INestApplicationContext } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { loadStoreConfig } from '../../src/platform/config/store.js';
import { commandDataSource } from '../../src/platform/database/data-source.js';
import type { StatementParameters } from '../../src/platform/database/statement.js';
import { Queries } from '../../src/platform/database/queries.js';
import { Transactions } from '../../src/platform/database/transactions.js';

/** Reads and changes rows where no call of the API does; parameters are named, as `:id`. */
export interface Rows {
  all<Row>(sql: string, parameters?: StatementParameters): Promise<Row[]>;
  one<Row>(sql: string, parameters?: StatementParameters): Promise<Row | undefined>;
  /** Runs a change. @returns the rows that it returns */
  execute<Row>(sql: string, parameters?: StatementParameters): Promise<Row[]>;
  /** Runs work in a transaction. */
  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T>;
}

export const rowsOf = (app: INestApplicationContext): Rows => ({
  all: (sql, parameters) => app.get(Queries).all(sql, parameters),
  one: (sql, parameters) => app.get(Queries).one(sql, parameters),
  execute: (sql, parameters) => app.get(Transactions).execute(sql, parameters),
  run: (work) => app.get(Transactions).run(work),
});

/** Runs statements on a database that no application has open. @returns the rows of the last one */
export async function queryStore(
  { environment }: { readonly environment: Readonly<Record<string, string>> },
  ...statements: readonly string[]
): Promise<any[]> {
  const database = await commandDataSource(loadStoreConfig(environment)).initialize();
  let rows: any[] = [];
  for (const sql of statements) rows = await database.query(sql);
  await database.destroy();
  return rows;
}
