import { existsSync, globSync } from 'node:fs';

/** The newest PostgreSQL of Debian's packages. */
const [postgres = '/usr/lib/postgresql'] = globSync('/usr/lib/postgresql/*/bin').toSorted(
  (a, b) => versionOf(b) - versionOf(a),
);

/** The programs of a cluster, by the names of their Debian packages. */
export const PARTS = {
  'etcd-server': '/usr/bin/etcd',
  haproxy: process.env['HAPROXY_PATH'] ?? '/usr/sbin/haproxy',
  patroni: '/usr/bin/patroni',
  pgbouncer: process.env['PGBOUNCER_PATH'] ?? '/usr/sbin/pgbouncer',
  postgresql: `${postgres}/postgres`,
} as const;

export const POSTGRES_BIN = postgres;

/** The packages that are not installed. */
export const MISSING_PARTS = Object.entries(PARTS)
  .filter(([, file]) => !existsSync(file))
  .map(([name]) => name);

function versionOf(folder: string): number {
  return Number(folder.split('/').at(-2));
}
