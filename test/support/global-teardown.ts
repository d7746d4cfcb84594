import { rm } from 'node:fs/promises';
import type { PostgresServer } from './postgres-server.ts';

export default async function tearDown(): Promise<void> {
  const { TEST_TEMPLATE: template, TEST_TEMPLATE_DATABASE: database, TEST_MEMORY: memory } = process.env;
  if (template !== undefined) await rm(template, { recursive: true });
  const { postgresServer: server } = globalThis as { postgresServer?: PostgresServer };
  // The server may be one that goes on.
  if (database !== undefined) await server?.run(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`);
  await server?.stop();
  if (memory !== undefined) await rm(memory, { recursive: true, force: true });
}
