import { Gauge, Histogram, type Registry } from 'prom-client';
import { BUCKETS } from './metrics.js';
import type { Database } from '../database/database.js';

/**
 * The load of the database connections, with names of OpenTelemetry's database conventions. On SQLite the writing
 * connection is a pool of one: its waiting requests wait for the write mutex.
 */
export function measureDatabase(database: Database, registry: Registry): void {
  const registers = [registry];
  new Gauge({
    name: 'db_client_connections',
    help: 'Connections to the database, by what they do',
    labelNames: ['pool_name', 'state'],
    registers,
    collect() {
      for (const { name, used, idle } of database.pools()) {
        this.set({ pool_name: name, state: 'used' }, used);
        this.set({ pool_name: name, state: 'idle' }, idle);
      }
    },
  });
  new Gauge({
    name: 'db_client_connections_max',
    help: 'Connections that a pool may open',
    labelNames: ['pool_name'],
    registers,
    collect() {
      for (const { name, max } of database.pools()) this.set({ pool_name: name }, max);
    },
  });
  new Gauge({
    name: 'db_client_connections_pending_requests',
    help: 'Work that waits for a connection, on SQLite writes that wait for the others',
    labelNames: ['pool_name'],
    registers,
    collect() {
      for (const { name, pending } of database.pools()) this.set({ pool_name: name }, pending);
    },
  });
  const waits = new Histogram({
    name: 'db_client_connections_wait_time_seconds',
    help: 'Time that writes on SQLite wait for the others',
    labelNames: ['pool_name'],
    buckets: BUCKETS,
    registers,
  });
  database.onWait((seconds) => waits.observe({ pool_name: 'writer' }, seconds));
}
