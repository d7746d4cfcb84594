import {
  type Attributes,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

/** `undefined` without tracing: then a span costs only this check. */
let tracer: Tracer | undefined;

export function traceBy(next: Tracer | undefined): void {
  tracer = next;
}

export const isTracing = (): boolean => tracer !== undefined;

interface SpanDescription {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
}

/** Runs the work in a span of the current trace; without a trace, it only runs the work. */
export function inSpan<T>(name: string, work: () => T, { kind, attributes }: SpanDescription = {}): T {
  if (!tracer || !trace.getActiveSpan()) return work();
  const span = tracer.startSpan(name, { kind: kind ?? SpanKind.INTERNAL, attributes: attributes ?? {} });
  return context.with(trace.setSpan(context.active(), span), () => endAfter(span, work));
}

/** Ends the span when the work, or its promise, is done. */
function endAfter<T>(span: Span, work: () => T): T {
  try {
    const result = work();
    if (!isPromise(result)) {
      span.end();
      return result;
    }
    return result.then(
      (value: unknown) => {
        span.end();
        return value;
      },
      (error: unknown) => {
        fail(span, error);
        throw error;
      },
    ) as T;
  } catch (error) {
    fail(span, error);
    throw error;
  }
}

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof value === 'object' && value !== null && 'then' in value;

/** Ends a span whose work has thrown. Messages may contain data, so only the error's name is recorded. */
export function fail(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
  span.end();
}

/** The ids of trace and span, for a log line. */
export function traceFields(): { trace_id?: string; span_id?: string } {
  const { traceId, spanId } = trace.getActiveSpan()?.spanContext() ?? {};
  return traceId !== undefined && spanId !== undefined ? { trace_id: traceId, span_id: spanId } : {};
}
