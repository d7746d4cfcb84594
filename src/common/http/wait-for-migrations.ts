import type { FastifyInstance } from 'fastify';
import type { Database } from '../../database/database.js';
import { AppError } from '../errors/errors.js';

const PENDING = 'The database is not migrated yet; retry later';

const HEALTH = /^\/health(?:[/?]|$)/;

/**
 * Rejects requests other than those for the health until the migrations have run: with the schema of an older build, a
 * missing table or column is no bug. A process that starts on a current schema gets no hook.
 */
export function waitForMigrations(fastify: FastifyInstance, database: Database): void {
  if (!database.isBehind) return;
  fastify.addHook('onRequest', async ({ url }) => {
    if (!database.isBehind || HEALTH.test(url)) return;
    if ((await database.pendingMigrations()) > 0) throw new AppError('SERVICE_UNAVAILABLE', PENDING);
  });
}
