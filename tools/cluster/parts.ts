import { execFileSync } from 'node:child_process';
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

/** The first version of Patroni whose primary takes the leader key back from nobody over etcd's v3 interface. */
export const SAFE_PATRONI = '3.0.3';

/** The version of the installed Patroni, such as `3.0.2`. */
export const patroniVersion = (): string =>
  /\d+(?:\.\d+)*/.exec(execFileSync(PARTS.patroni, ['--version'], { encoding: 'utf8' }))![0];

export const isSafePatroni = (version: string): boolean =>
  version.localeCompare(SAFE_PATRONI, 'en', { numeric: true }) >= 0;

function versionOf(folder: string): number {
  return Number(folder.split('/').at(-2));
}
