import { POSTGRES } from '../dialect.js';
import type { Parameters } from '../parameters.js';
import { Queries } from '../queries.js';
import type { ServiceDataSource } from '../service-data-source.js';
import type { Transactions } from '../transactions.js';
import type { PostgresConnection } from './connection.js';
import type { Pipeline } from './pipeline.js';
import type { Replicas } from './replicas.js';

export class PostgresQueries extends Queries {
  readonly dialect = POSTGRES;

  constructor(
    private readonly connection: PostgresConnection,
    private readonly searches: PostgresConnection,
    transactions: Transactions,
    private readonly ownSource: ServiceDataSource,
    private readonly pipeline?: Pipeline,
    private readonly replicas?: Replicas,
  ) {
    super(transactions, ownSource);
  }

  override onReplica<T>(work: () => Promise<T>): Promise<T> {
    return this.replicas && !this.ownSource.unit ? this.replicas.read(work) : work();
  }

  protected read<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return (this.replicas?.current?.connection ?? this.connection).all<Row>(sql, parameters);
  }

  protected override readShort<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    const replica = this.replicas?.current;
    return replica
      ? replica.connection.all<Row>(sql, parameters)
      : this.connection.all<Row>(sql, parameters, this.pipeline);
  }

  protected readPatiently<Row>(sql: string, parameters?: Parameters): Promise<Row[]> {
    return (this.replicas?.current?.searches ?? this.searches).all<Row>(sql, parameters);
  }
}
