import { context, propagation, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  envDetector,
  detectResources,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { traceBy } from '../common/ports/spans.js';
import type { TracingSettings } from '../config/config.js';
import { traceStatementsBy } from '../database/statement-span.js';
import { traceOutgoing } from './trace-outgoing.js';
import { statementSpan } from './trace-statement.js';

/** How long sending the last spans may take when the process stops, in milliseconds. */
const STOP_TIMEOUT = 1000;

/**
 * Traces this process, and sends spans by OTLP over HTTP. Loaded only if it is configured.
 *
 * @returns a function that stops it, once the recorded spans are sent or the collector took too long
 */
export function startTracing({ endpoint, serviceName, ratio }: TracingSettings): () => Promise<void> {
  const exporter = new OTLPTraceExporter({ url: `${endpoint}/v1/traces` });
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(detectResources({ detectors: [envDetector] }))
      .merge(resourceFromAttributes({ 'service.name': serviceName })),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(provider);
  const tracer = provider.getTracer('posts-api');
  traceBy(tracer);
  traceStatementsBy(statementSpan);
  traceOutgoing(tracer);

  return async () => {
    const late = new Promise<void>((resolve) => setTimeout(resolve, STOP_TIMEOUT).unref());
    await Promise.race([provider.shutdown().catch(() => undefined), late]);
  };
}
