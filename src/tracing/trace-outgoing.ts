import { subscribe } from 'node:diagnostics_channel';
import type { ClientRequest, IncomingMessage } from 'node:http';
import {
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { isTracingSuppressed } from '@opentelemetry/core';

/** A request of `fetch`, as undici publishes it to its channels. */
interface FetchRequest {
  readonly origin: string | URL;
  readonly method: string;
  addHeader(name: string, value: string): void;
}

/**
 * Spans for calls to other services by `fetch` and `node:http`, which get the header `traceparent`. They use the
 * channels of Node.js and undici (`diagnostics_channel`), and patch nothing. A call outside of a
 * trace has no span.
 */
export function traceOutgoing(tracer: Tracer): void {
  const spans = new WeakMap<object, Span>();

  const begin = (
    request: object,
    method: string,
    host: string,
    setHeader: (name: string, value: string) => void,
  ) => {
    if (!trace.getActiveSpan() || isTracingSuppressed(context.active())) return;
    // Paths and queries of other services may contain secrets.
    const attributes = { 'http.request.method': method, 'server.address': host };
    const span = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes });
    spans.set(request, span);
    propagation.inject(trace.setSpan(context.active(), span), undefined, {
      set: (_, name, value) => setHeader(name, value),
    });
  };
  const end = (request: object, status: number | undefined) => {
    const span = spans.get(request);
    spans.delete(request);
    if (!span) return;
    if (status !== undefined) span.setAttribute('http.response.status_code', status);
    if (status === undefined || status >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
  };

  subscribe('undici:request:create', (message) => {
    const { request } = message as { request: FetchRequest };
    begin(request, request.method, new URL(request.origin).host, (name, value) =>
      request.addHeader(name, value),
    );
  });
  subscribe('undici:request:headers', (message) => {
    const { request, response } = message as { request: FetchRequest; response: { statusCode: number } };
    end(request, response.statusCode);
  });
  subscribe('undici:request:error', (message) =>
    end((message as { request: FetchRequest }).request, undefined),
  );

  subscribe('http.client.request.created', (message) => {
    const { request } = message as { request: ClientRequest };
    begin(request, request.method, request.host, (name, value) => request.setHeader(name, value));
  });
  subscribe('http.client.response.finish', (message) => {
    const { request, response } = message as { request: ClientRequest; response: IncomingMessage };
    end(request, response.statusCode);
  });
  subscribe('http.client.request.error', (message) =>
    end((message as { request: ClientRequest }).request, undefined),
  );
}
