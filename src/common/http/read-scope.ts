import type { FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../config/config.js';
import type { Database } from '../../database/database.js';
import type { Replication, RequestScope } from '../../database/replication.js';
import { AppError } from '../errors/errors.js';
import { Cookie } from './cookie.js';
import { isSafe } from './methods.js';
import { appendHook } from './routes.js';

export const CONSISTENCY_TOKEN = 'Consistency-Token';

declare module 'fastify' {
  interface FastifyRequest {
    readScope: RequestScope | null;
  }
}

/** In seconds. Replicas that are further behind are not used. */
const COOKIE_MAX_AGE = 60;

const TOKEN = /^[\dA-F]{16}$/;

/** No replica has reached it, so that reads use the primary. */
const UNKNOWN = 'F'.repeat(16);

/**
 * Makes clients read from replicas what they have written: the response to a write carries a token, and a read with
 * the token sees the write. Without replicas, it does nothing.
 */
export const readScope = fastifyPlugin<{ config: Config; database: Database }>(
  (fastify, { config, database }, done) => {
    const { replication } = database;
    if (!replication) {
      done();
      return;
    }
    const cookie = new Cookie('consistency', COOKIE_MAX_AGE, config);
    fastify.decorateRequest('readScope', null);
    fastify.addHook('onResponse', (request, _reply, next) => {
      request.readScope?.end();
      next();
    });
    fastify.addHook('onRoute', (route) => {
      appendHook(route, 'preHandler', (request, _reply, next) => {
        const reads = { mayWrite: !isSafe(request), position: positionOf(request, cookie) };
        replication.runRequest(reads, (scope) => {
          request.readScope = scope;
          next();
        });
      });
      appendHook(route, 'onSend', (request, reply, payload, next) => {
        if (!request.readScope?.isOfWrite(reply.statusCode < 400)) {
          next(null, payload);
          return;
        }
        void send(replication, request, reply, cookie).finally(() => next(null, payload));
      });
    });
    done();
  },
  // The token covers the commit of an idempotent request, and the entry of the audit log.
  { name: 'read scope', dependencies: ['idempotent responses', 'audit'] },
);

/** Of every path, while there are replicas. */
export const INVALID_TOKEN = `${CONSISTENCY_TOKEN} is invalid; send the value from a response unchanged`;

/** @throws AppError `MALFORMED_REQUEST` for an invalid header, because the client relies on it */
function positionOf(request: FastifyRequest, cookie: Cookie): bigint | undefined {
  const header = request.headers[CONSISTENCY_TOKEN.toLowerCase()];
  if (header !== undefined && !TOKEN.test(String(header))) {
    throw new AppError('MALFORMED_REQUEST', INVALID_TOKEN);
  }
  // An invalid cookie is ignored: the user of a browser cannot change it.
  const kept = cookie.read(request);
  const tokens = [String(header ?? ''), kept ?? ''].filter((token) => TOKEN.test(token));
  // All tokens have the same length, so the later one sorts last.
  const token = tokens.toSorted().at(-1);
  return token === undefined ? undefined : BigInt(`0x${token}`);
}

async function tokenOf(replication: Replication): Promise<string> {
  try {
    return (await replication.position()).toString(16).toUpperCase().padStart(16, '0');
  } catch {
    return UNKNOWN;
  }
}

/** Sets the cookie, too, for browsers that use cookies. */
async function send(
  replication: Replication,
  request: FastifyRequest,
  reply: FastifyReply,
  cookie: Cookie,
): Promise<void> {
  const token = await tokenOf(replication);
  reply.header(CONSISTENCY_TOKEN, token);
  if (request.headers.cookie !== undefined || reply.hasHeader('set-cookie')) cookie.write(reply, token);
}
