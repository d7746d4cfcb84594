import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { pageLinks } from '../pagination/links.js';
import { stringify } from '../http/json-text.js';
import { CursorPage, Page } from '../pagination/page.js';
import { Created } from './created.js';
import { streamPage } from './stream-page.js';

/**
 * Sets headers that describe the response: `Location` of a new resource, `Link` (RFC 8288) between
 * pages. The decorators of `openapi/returns.ts` add it. An interceptor between it and the handler must return a `Page`
 * or a `Created` as it is.
 */
@Injectable()
export class ResourceHeadersInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    return next.handle().pipe(
      map((result: unknown) => {
        const request = http.getRequest<FastifyRequest>();
        setResourceHeaders(request, http.getResponse(), result);
        if (isPage(result) && result.completion) return streamPage(result, request.method);
        // An interceptor that copies the page would lose its `toJSON`.
        return result instanceof Page && result.toJSON ? result.toJSON() : result;
      }),
    );
  }
}

function setResourceHeaders({ url }: FastifyRequest, reply: FastifyReply, result: unknown): void {
  if (result instanceof Created) reply.header('location', result.location);
  if (isPage(result)) {
    const links = pageLinks(url, result);
    if (links) reply.header('link', links);
    if (result instanceof Page && typeof result.meta.page !== 'number') {
      reply.type('application/json; charset=utf-8').serializer(stringify);
    }
  }
}

const isPage = (result: unknown): result is Page<unknown> | CursorPage<unknown> =>
  result instanceof Page || result instanceof CursorPage;
