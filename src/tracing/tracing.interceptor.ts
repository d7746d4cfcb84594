import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { GqlExecutionContext } from '@nestjs/graphql';
import { context as otel, SpanKind, trace } from '@opentelemetry/api';
import type { GraphQLResolveInfo } from 'graphql';
import { type Observable, tap } from 'rxjs';
import { fail } from '../common/ports/spans.js';
import { isGraphQL } from '../common/http/request-of.js';

/** A span for each handler of a route and each resolver, including its interceptors and pipes. */
@Injectable()
export class TracingInterceptor implements NestInterceptor {
  private readonly tracer = trace.getTracer('posts-api');

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const name = `${context.getClass().name}.${context.getHandler().name}`;
    const span = this.tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes: attributesOf(context) });
    return otel
      .with(trace.setSpan(otel.active(), span), () => next.handle())
      .pipe(tap({ error: (error: unknown) => fail(span, error), complete: () => span.end() }));
  }
}

function attributesOf(context: ExecutionContext): Record<string, string> {
  if (!isGraphQL(context)) return {};
  const { parentType, fieldName } = GqlExecutionContext.create(context).getInfo<GraphQLResolveInfo>();
  return { 'graphql.field': `${parentType.name}.${fieldName}` };
}
