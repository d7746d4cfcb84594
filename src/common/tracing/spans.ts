import {
  type Attributes,
  context,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

/** `undefined` while nobody traces: then spans cost a look at it. */
let tracer: Tracer | undefined;

export function traceBy(next: Tracer | undefined): void {
  tracer = next;
}

export const isTracing = (): boolean => tracer !== undefined;

interface SpanDescription {
  readonly kind?: SpanKind;
  readonly attributes?: Attributes;
}

/** Does the work in a span of the trace under way; where there is none, it just does the work. */
export function inSpan<T>(name: string, work: () => T, { kind, attributes }: SpanDescription = {}): T {
  if (!tracer || !trace.getActiveSpan()) return work();
  const span = tracer.startSpan(name, { kind: kind ?? SpanKind.INTERNAL, attributes: attributes ?? {} });
  return context.with(trace.setSpan(context.active(), span), () => endAfter(span, work));
}

/** Ends the span when the work, or the promise that it returns, is done. */
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

/** Ends a span whose work has thrown. Messages may hold data: only the name of the error is kept. */
export function fail(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
  span.end();
}

/** For a log line: where in which trace it was written. */
export function traceFields(): { trace_id?: string; span_id?: string } {
  const { traceId, spanId } = trace.getActiveSpan()?.spanContext() ?? {};
  return traceId !== undefined && spanId !== undefined ? { trace_id: traceId, span_id: spanId } : {};
}
