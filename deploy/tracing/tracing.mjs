/** Traces the service ("Traces" in docs/operations.md has the command), and not its threads, which load this, too. */
import { subscribe } from 'node:diagnostics_channel';
import { register } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const { SpanKind, trace } = await import('@opentelemetry/api');
  const { getNodeAutoInstrumentations } = await import('@opentelemetry/auto-instrumentations-node');
  const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
  const { NodeSDK } = await import('@opentelemetry/sdk-node');
  const INPUT = ['url.query', 'url.path', 'url.full', 'exception.message', 'exception.stacktrace', 'message'];
  class Exporter extends OTLPTraceExporter {
    export(all, done) {
      // Work at the start and in the background has no request above it.
      const spans = all.filter((span) => span.parentSpanContext || span.kind === SpanKind.SERVER);
      for (const { attributes, events, status } of spans)
        for (const each of [attributes, status, ...events.map((event) => event.attributes ?? {})])
          for (const name of INPUT) delete each[name];
      super.export(spans, done);
    }
  }
  process.loadEnvFile(new URL('tracing.env', import.meta.url));
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url, { data: { include: [/^node:http/] } });
  const requestHook = (span, { query }) => span.updateName(/\w+/.exec(query.text)?.[0] ?? 'SQL');
  const instrumentations = getNodeAutoInstrumentations({
    '@opentelemetry/instrumentation-graphql': { ignoreResolveSpans: true },
    '@opentelemetry/instrumentation-http': { requireParentforOutgoingSpans: true },
    '@opentelemetry/instrumentation-pg': { ignoreConnectSpans: true, requestHook },
    '@opentelemetry/instrumentation-undici': { requireParentforSpans: true },
  });
  const sdk = new NodeSDK({ traceExporter: new Exporter(), instrumentations });
  sdk.start();
  subscribe('fastify.initialization', ({ fastify }) => {
    fastify.addHook('onRequest', async ({ method, routeOptions: { url } }) => {
      if (url) trace.getActiveSpan()?.setAttribute('http.route', url).updateName(`${method} ${url}`);
    });
    fastify.addHook('onClose', () => Promise.race([sdk.shutdown().catch(() => {}), sleep(1000)]));
  });
}
