import type { Metrics } from '../common/ports/metrics.js';
import type { Database } from '../database/database.js';

/**
 * The load of the database connections, with names of OpenTelemetry's database conventions. On SQLite the writing
 * connection is a pool of one: its waiting requests wait for the write mutex.
 */
export function measureDatabase(database: Database, metrics: Metrics): void {
  const pool = ['pool_name'];
  metrics.gauge(
    'db_client_connections',
    'Connections to the database, by what they do',
    () =>
      database
        .pools()
        .flatMap(({ name, used, idle }) => [
          [{ pool_name: name, state: 'used' }, used] as const,
          [{ pool_name: name, state: 'idle' }, idle] as const,
        ]),
    [...pool, 'state'],
  );
  metrics.gauge(
    'db_client_connections_max',
    'Connections that a pool may open',
    () => database.pools().map(({ name, max }) => [{ pool_name: name }, max] as const),
    pool,
  );
  metrics.gauge(
    'db_client_connections_pending_requests',
    'Work that waits for a connection, on SQLite writes that wait for the others',
    () => database.pools().map(({ name, pending }) => [{ pool_name: name }, pending] as const),
    pool,
  );
  const waits = metrics.histogram(
    'db_client_connections_wait_time_seconds',
    'Time that writes on SQLite wait for the others',
    pool,
  );
  database.onWait((seconds) => waits.observe(seconds, { pool_name: 'writer' }));
}
