import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { AuditTrail, runWithTrail } from '../common/audit/audit-trail.js';
import { clientOf } from '../common/request/client.js';
import type { AuditLog } from './audit-log.js';

const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

declare module 'fastify' {
  interface FastifyRequest {
    auditTrail: AuditTrail | null;
  }
}

/**
 * Every route that may change something has an audit trail: what an authenticated caller does by it is in the log
 * before the response leaves. Call it before the routes are registered.
 */
export function auditRequests(fastify: FastifyInstance, log: AuditLog): void {
  fastify.decorateRequest('auditTrail', null);

  fastify.addHook('onRoute', (route: RouteOptions) => {
    const isWrite = [route.method].flat().some((method) => WRITES.has(method));
    if (!isWrite && !route.config?.audited) return;
    const { handler, onSend = [] } = route;
    route.handler = function (request, reply) {
      request.auditTrail = trailOf(request, reply);
      return runWithTrail(request.auditTrail, () => handler.call(this, request, reply));
    };
    // After the hooks of the application, among them the one that commits idempotent requests.
    route.onSend = [
      ...[onSend].flat(),
      (request, reply, payload, done) => {
        const trail = request.auditTrail;
        if (trail?.responsible === undefined || !hasChanged(reply)) {
          trail?.close();
          done(null, payload);
          return;
        }
        request.auditTrail = null;
        void record(log, trail, (error) => done(error, payload));
      },
    ];
  });
}

async function record(log: AuditLog, trail: AuditTrail, done: (error: null) => void): Promise<void> {
  let failure: unknown = null;
  try {
    await log.record(trail);
    trail.close();
  } catch (error) {
    failure = error;
  }
  // Fastify takes an error here, which its types have only without a body.
  done(failure as null);
}

function trailOf(request: FastifyRequest, reply: FastifyReply): AuditTrail {
  const { id, method, routeOptions, url } = request;
  const source = { ...clientOf(request), requestId: id };
  const path = url.replace(/[?#].*/s, '').replace(/(?<=.)\/$/, '');
  // What was created is known once the response is being made.
  const subject = () => (reply.statusCode === 201 && (reply.getHeader('location') as string)) || path;
  return new AuditTrail(source, `${method} ${routeOptions.url}`, subject, () => request.user?.id);
}

/** Neither an error nor a repetition of an earlier response. */
const hasChanged = (reply: FastifyReply): boolean =>
  reply.statusCode < 400 && !reply.hasHeader('idempotent-replayed');
