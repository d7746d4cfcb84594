import { subscribe } from 'node:diagnostics_channel';
import { register } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { context, propagation, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { getRPCMetadata, W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { registerInstrumentations } from '@opentelemetry/instrumentation';
import { GraphQLInstrumentation } from '@opentelemetry/instrumentation-graphql';
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
import { PgInstrumentation } from '@opentelemetry/instrumentation-pg';
import { PinoInstrumentation } from '@opentelemetry/instrumentation-pino';
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { FastifyInstance } from 'fastify';
import { SERVICE } from './platform/config/package.js';

/** How long a stop waits for the last spans to be sent, in milliseconds. */
const STOP_TIMEOUT = 1000;

/** The maximum length of a statement or a GraphQL document in a span. */
const MAX_TEXT = 2000;

/** Attributes that may contain input of clients, such as tokens. The route is an attribute of its own. */
const INPUT = ['url.full', 'url.path', 'url.query', 'exception.message', 'exception.stacktrace'];

/** Registers the instrumentation of OpenTelemetry and sends spans by OTLP over HTTP. */
export function startTracing(): void {
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': SERVICE.name }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: new ParentBasedSampler({ root: ofRequests(process.env['OTEL_TRACES_SAMPLER_ARG'] || '1') }),
    spanLimits: { attributeValueLengthLimit: MAX_TEXT },
    spanProcessors: [withoutInput, new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);

  // Only what ES modules import needs this hook, without `include` for every module: packages in CommonJS need none.
  register('@opentelemetry/instrumentation/hook.mjs', import.meta.url, {
    data: { include: ['http', 'https'] },
  });
  registerInstrumentations({
    instrumentations: [
      new HttpInstrumentation({ requireParentforOutgoingSpans: true }),
      new UndiciInstrumentation({ requireParentforSpans: true }),
      new GraphQLInstrumentation({ ignoreResolveSpans: true }),
      new PgInstrumentation({
        requireParentSpan: true,
        ignoreConnectSpans: true,
        // By default, the name contains that of a prepared statement: `s0`.
        requestHook: (span, { query }) => span.updateName(summaryOf(query.text)),
      }),
      new PinoInstrumentation({ disableLogSending: true }),
    ],
  });

  subscribe('fastify.initialization', (message) => {
    const { fastify } = message as { fastify: FastifyInstance };
    fastify.addHook('onRequest', (request, _reply, done) => {
      const metadata = getRPCMetadata(context.active());
      const { url } = request.routeOptions;
      if (metadata && url !== undefined) metadata.route = url;
      done();
    });
    // An unavailable collector does not delay a stop.
    fastify.addHook('onClose', async () => {
      const stopped = provider.shutdown().catch(() => undefined);
      await Promise.race([stopped, sleep(STOP_TIMEOUT, undefined, { ref: false })]);
    });
  });
}

/** Samples a share of requests, and nothing else: GraphQL over WebSocket would be a trace for each event. */
function ofRequests(share: string): Sampler {
  const ratio = new TraceIdRatioBasedSampler(Number(share));
  return {
    shouldSample: (parent, id, _name, kind) =>
      kind === SpanKind.SERVER ? ratio.shouldSample(parent, id) : { decision: SamplingDecision.NOT_RECORD },
    toString: () => `Requests{${ratio.toString()}}`,
  };
}

/** The operation of a statement, and its table if that can be recognized: `INSERT posts`. */
function summaryOf(sql: string): string {
  const [, operation = 'SQL'] = /^\s*(?:WITH\s+\w+\s+AS\s*\(\s*)?(\w+)/i.exec(sql) ?? [];
  // A function after FROM is no table.
  const [, table] = /\b(?:INTO|UPDATE|TABLE|FROM(?!\s+\w+\s*\())\s+"?(\w+)/i.exec(sql) ?? [];
  return table === undefined ? operation.toUpperCase() : `${operation.toUpperCase()} ${table}`;
}

/** Removes input of clients from each span before it is sent. */
const withoutInput: SpanProcessor = {
  onStart: () => undefined,
  onEnd({ attributes, events, status }) {
    for (const name of INPUT) {
      delete attributes[name];
      for (const event of events) delete event.attributes?.[name];
    }
    delete status.message;
  },
  forceFlush: () => Promise.resolve(),
  shutdown: () => Promise.resolve(),
};
