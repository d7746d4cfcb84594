import { readFileSync } from 'node:fs';

interface PoolerSettings {
  /** The database that clients name, or `*`. */
  readonly database: string;
  /** The server behind the pooler. */
  readonly server: { readonly host: string; readonly port: number | string };
  readonly port: number;
  /** The file of the users. */
  readonly authFile: string;
}

/** `deploy/cluster/pgbouncer.ini` for this machine: PgBouncer reads no environment. */
export const poolerSettings = ({ database, server, port, authFile }: PoolerSettings): string =>
  readFileSync('deploy/cluster/pgbouncer.ini', 'utf8')
    .replace(/^posts = .*$/m, `${database} = host=${server.host} port=${server.port}`)
    .replace(/^listen_port = .*$/m, `listen_port = ${port}`)
    .replace(/^auth_file = .*$/m, `auth_file = ${authFile}`);
