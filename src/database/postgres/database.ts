import { Logger } from '@nestjs/common';
import type { Pool } from 'pg';
import { Database, type PoolLoad, type ReplicaState } from '../database.js';
import type { Listening } from '../listening.js';
import { PostgresConnection, poolOf } from './connection.js';
import { listenerConnection, type PostgresDataSource, searchPool, sharedPool } from './data-source.js';
import { PostgresListener } from './listener.js';
import { Pipeline } from './pipeline.js';
import { PostgresQueries } from './queries.js';
import { Replicas } from './replicas.js';
import { PostgresTransactions } from './transactions.js';

/** A PostgreSQL server, which any number of replicas may share. */
export class PostgresDatabase extends Database {
  readonly queries: PostgresQueries;
  readonly transactions: PostgresTransactions;
  private readonly standbys: Replicas | undefined;

  private readonly searches: Pool;
  private readonly shared: Pool | undefined;

  private constructor(readonly source: PostgresDataSource) {
    super();
    const { store } = source;
    const { preparedStatements } = store;
    const searches = (this.searches = searchPool(store, source.primary));
    const shared = (this.shared = sharedPool(store, source.primary));
    const connection = new PostgresConnection(poolOf(source), preparedStatements);
    const searchConnection = new PostgresConnection(searches, preparedStatements);
    this.transactions = new PostgresTransactions(source, connection);
    this.standbys = store.replicaUrls.length > 0 ? new Replicas(store, source.watch) : undefined;
    source.replicaPool = () => this.standbys?.current?.main;
    this.queries = new PostgresQueries(
      connection,
      searchConnection,
      this.transactions,
      source,
      shared && new Pipeline(shared, poolOf(source)),
      this.standbys,
    );
    if (source.primary) source.primary.onMove = ({ name }) => this.move(name);
  }

  static async of(source: PostgresDataSource): Promise<PostgresDatabase> {
    const database = new PostgresDatabase(source);
    await database.standbys?.look();
    return database;
  }

  listen(channel: string, onSignal: () => void): Listening {
    const send = (payload: string) => this.source.watch.query('SELECT pg_notify($1, $2)', [channel, payload]);
    return new PostgresListener(
      listenerConnection(this.source.store, this.source.primary),
      channel,
      onSignal,
      send,
    );
  }

  async peek<Row>(sql: string): Promise<Row[]> {
    return (await this.source.watch.query(sql)).rows as Row[];
  }

  protected probeStorage(): Promise<unknown> {
    return this.source.watch.query(
      `CREATE TEMPORARY TABLE storage_probe ON COMMIT DROP AS SELECT repeat('x', 262144) AS bytes`,
    );
  }

  override pools(): readonly PoolLoad[] {
    return [
      loadOf('main', poolOf(this.source)),
      ...(this.shared ? [loadOf('shared', this.shared)] : []),
      loadOf('search', this.searches),
      ...this.standbysOrNone.flatMap(({ name, main, slow }) => [
        loadOf(`replica ${name}`, main),
        loadOf(`replica ${name} search`, slow),
      ]),
    ];
  }

  override replicas(): readonly ReplicaState[] {
    return this.standbysOrNone.map(({ name, isUsable: isUsed, lag }) => ({ name, isUsed, lag }));
  }

  override position(): Promise<bigint> {
    return this.standbys ? this.standbys.position() : super.position();
  }

  private move(primary: string): void {
    new Logger('Database').warn(`${primary} is the primary now`);
    this.standbys?.forgetPositions();
  }

  private get standbysOrNone() {
    return this.standbys?.all ?? [];
  }

  async close(): Promise<void> {
    await Promise.all([this.searches.end(), this.shared?.end(), this.standbys?.close()]);
    if (this.source.isInitialized) await this.source.destroy();
  }
}

const loadOf = (name: string, { options, totalCount, idleCount, waitingCount }: Pool): PoolLoad => ({
  name,
  max: options.max,
  used: totalCount - idleCount,
  idle: idleCount,
  pending: waitingCount,
});
