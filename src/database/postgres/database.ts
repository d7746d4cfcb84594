import type { Pool } from 'pg';
import type { EntitySchema, MixedList } from 'typeorm';
import type { PostgresStore } from '../../config/config.js';
import { Database } from '../database.js';
import { DatabaseError } from '../database.error.js';
import { PostgresConnection, poolOf } from './connection.js';
import { PostgresDataSource, searchPool } from './data-source.js';
import { PostgresQueries } from './queries.js';
import { PostgresTransactions } from './transactions.js';

/** A PostgreSQL server, shared with any number of replicas. */
export class PostgresDatabase extends Database {
  readonly queries: PostgresQueries;
  readonly transactions: PostgresTransactions;

  private constructor(
    readonly source: PostgresDataSource,
    private readonly searches: Pool,
    { preparedStatements }: PostgresStore,
  ) {
    super();
    const connection = new PostgresConnection(poolOf(source), preparedStatements);
    const patient = new PostgresConnection(searches, preparedStatements);
    this.transactions = new PostgresTransactions(source, connection);
    this.queries = new PostgresQueries(connection, patient, this.transactions, source);
  }

  static async open(
    store: PostgresStore,
    entities: MixedList<Function | string | EntitySchema>,
    prepare: () => Promise<void>,
  ): Promise<PostgresDatabase> {
    await prepare();
    const source = new PostgresDataSource(store, entities);
    await source.initialize();
    const [{ server_encoding: encoding }] = await source.query('SHOW server_encoding');
    if (encoding !== 'UTF8') {
      await source.destroy();
      throw new DatabaseError(`The database must be encoded in UTF8, and this one is in ${encoding}`);
    }
    return new PostgresDatabase(source, searchPool(store), store);
  }

  async close(): Promise<void> {
    await this.searches.end();
    if (this.source.isInitialized) await this.source.destroy();
  }
}
