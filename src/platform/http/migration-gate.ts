import fastifyPlugin from 'fastify-plugin';
import type { Database } from '../database/database.js';
import { AppError } from './errors/errors.js';
import { isPreflight } from './methods.js';

const PENDING = 'The database is not migrated yet; retry later';

/**
 * Rejects requests other than those of probes until the migrations have run: with the schema of an older build, a
 * missing table or column is no bug. A process that starts on a current schema gets no hook.
 */
export const migrationGate = fastifyPlugin<{ database: Database }>(
  (fastify, { database }, done) => {
    if (database.isBehind) {
      fastify.addHook('onRequest', async (request) => {
        // A browser reports a rejected preflight as a network error: the page would never see the 503.
        if (!database.isBehind || isPreflight(request) || fastify.routes.has('forProbes', request)) return;
        if ((await database.pendingMigrations()) > 0) throw new AppError('SERVICE_UNAVAILABLE', PENDING);
      });
    }
    done();
  },
  // After CORS, so that browsers can read the error.
  { name: 'migration gate', dependencies: ['routes', 'cors'] },
);
