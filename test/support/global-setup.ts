import { type PostgresServer, startPostgres } from './postgres-server.ts';

/** One PostgreSQL server for the whole run; each test file has databases of its own in it. */
export default async function setUp(): Promise<void> {
  const server = await startPostgres();
  process.env['TEST_DATABASE_URL'] = server.url;
  (globalThis as { postgresServer?: PostgresServer }).postgresServer = server;
}
