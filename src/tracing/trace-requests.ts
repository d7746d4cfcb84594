import {
  context,
  type Context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { clientOf } from '../common/http/client.js';
import { onResponseEnd } from '../common/http/response-end.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The context of the request's span, if it is traced. */
    traceContext?: Context;
  }
}

/** Traces requests, if tracing is on. The spans include everything that follows in the pipeline. */
export const tracing = fastifyPlugin<{ isOn: boolean }>(
  (fastify, { isOn }, done) => {
    if (isOn) traceRequests(fastify);
    done();
  },
  { name: 'tracing', dependencies: ['hardening'] },
);

/** A server span for each request, which continues the trace of the client (W3C Trace Context). */
function traceRequests(fastify: FastifyInstance): void {
  const tracer = trace.getTracer('posts-api');

  fastify.addHook('onRequest', (request, reply, done) => {
    const { method, headers, protocol, routeOptions } = request;
    const { url: route } = routeOptions;
    const { address, agent } = clientOf(request);
    const parent = propagation.extract(ROOT_CONTEXT, headers);
    const attributes = {
      'http.request.method': method,
      'url.scheme': protocol,
      'client.address': address,
      'user_agent.original': agent,
      // Not the path, which may contain personal data.
      ...(route !== undefined && { 'http.route': route }),
    };
    const name = route === undefined ? method : `${method} ${route}`;
    const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes }, parent);
    const traceContext = trace.setSpan(parent, span);
    request.traceContext = traceContext;
    onResponseEnd(request, reply, () => {
      const { statusCode } = reply;
      if (reply.raw.writableFinished) span.setAttribute('http.response.status_code', statusCode);
      else span.setAttribute('error.type', 'aborted');
      if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    });
    context.with(traceContext, done);
  });

  // The bytes arrived in events of the connection, whose asynchronous context is not that of the request.
  fastify.addHook('preValidation', (request, _reply, done) =>
    context.with(request.traceContext ?? ROOT_CONTEXT, done),
  );
}
