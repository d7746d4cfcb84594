import type { FastifyReply, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { AuditTrail, runWithTrail } from '../platform/http/audit-trail.js';
import { clientOf } from '../platform/http/client.js';
import { isWritingRoute } from '../platform/http/methods.js';
import { appendHook } from '../platform/http/routes.js';
import type { AuditLog } from './audit-log.js';

declare module 'fastify' {
  interface FastifyRequest {
    auditTrail: AuditTrail | null;
  }
}

/**
 * Gives every route that may change something an audit trail: the log has each change of an authenticated caller
 * before the response is sent.
 */
export const auditTrails = fastifyPlugin<{ log: AuditLog }>(
  (fastify, { log }, done) => {
    fastify.decorateRequest('auditTrail', null);
    const paths = new Set<string>();

    fastify.addHook('onRoute', (route) => {
      paths.add(withoutName(route.url));
      if (!isWritingRoute(route) && !route.config?.audited) return;
      const isPost = [route.method].flat().includes('POST');
      appendHook(route, 'preHandler', (request, reply, next) => {
        // If there is a route `/v1/posts/:id`, a row inserted by `/v1/posts` is found at that path.
        const isCollection = isPost && paths.has(`${route.url}/:`);
        request.auditTrail = trailOf(request, reply, isCollection);
        runWithTrail(request.auditTrail, next);
      });
      appendHook(route, 'onSend', (request, reply, payload, next) => {
        const trail = request.auditTrail;
        if (!trail?.mayHaveChanged || !hasChanged(reply)) {
          trail?.close();
          next(null, payload);
          return;
        }
        request.auditTrail = null;
        void record(log, trail, (error) => next(error, payload));
      });
    });
    done();
  },
  // A response that cannot be stored rolls the change back: then there is nothing to record.
  { name: 'audit', dependencies: ['idempotent responses'] },
);

const withoutName = (path: string): string => path.replace(/:[^/]+$/, ':');

async function record(log: AuditLog, trail: AuditTrail, done: (error: null) => void): Promise<void> {
  let failure: unknown = null;
  try {
    await log.record(trail);
    trail.close();
  } catch (error) {
    failure = error;
  }
  // Fastify accepts an error here; its types allow one only without a body.
  done(failure as null);
}

function trailOf(request: FastifyRequest, reply: FastifyReply, isCollection: boolean): AuditTrail {
  const { id, method, routeOptions } = request;
  const source = { ...clientOf(request), requestId: id };
  const subject = (insertedId: string | undefined): string => {
    // The response has its `Location` only now.
    if (reply.statusCode === 201 && reply.hasHeader('location')) return String(reply.getHeader('location'));
    const path = pathOf(request, trail);
    return isCollection && insertedId !== undefined ? `${path}/${insertedId}` : path;
  };
  const trail: AuditTrail = new AuditTrail(
    source,
    `${method} ${routeOptions.url}`,
    subject,
    () => request.user?.id,
  );
  return trail;
}

/** A parameter of a route, such as `:id`, `:id(^\\d+$)` or `:id?`, or the rest of a path. */
const PARAMETER = /:(\w+)(?:\([^/]*\))?\??|\*$/g;

/**
 * The canonical path: of the route and its parameters, because the client may write the same path in many ways, as
 * `/v1/%70osts/7` or `http://host/v1/posts/007`. Ids are in their canonical form.
 */
function pathOf({ params, routeOptions }: FastifyRequest, trail: AuditTrail): string {
  const values = params as Readonly<Record<string, string | undefined>>;
  const pattern = (routeOptions.url ?? '').replace(/(?<=.)\/$/, '');
  return pattern.replace(PARAMETER, (_, name: string = '*') => {
    const value = trail.idOf(name) ?? values[name] ?? '';
    return String(value).split('/').map(encodeURIComponent).join('/');
  });
}

/** Whether the response is neither an error nor a replay. */
const hasChanged = (reply: FastifyReply): boolean =>
  reply.statusCode < 400 && !reply.hasHeader('idempotent-replayed');
