import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { map, type Observable } from 'rxjs';
import { pageLinks } from '../pagination/links.js';
import { stringify } from '../http/json-text.js';
import { CursorPage, Page } from '../pagination/page.js';
import { streamPage } from './stream-page.js';

/**
 * Sends a page, with its `Link` header (RFC 8288). The decorators of `openapi/returns.ts` add it. An interceptor
 * between it and the handler must return a `Page` or a `CursorPage` as it is.
 */
@Injectable()
export class PageInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    return next.handle().pipe(
      map((result: unknown) => {
        const request = http.getRequest<FastifyRequest>();
        if (!isPage(result)) return result;
        setLinks(request, http.getResponse(), result);
        if (result.completion) return streamPage(result, request.method);
        // An interceptor that copies the page would lose its `toJSON`.
        return result instanceof Page && result.toJSON ? result.toJSON() : result;
      }),
    );
  }
}

function setLinks({ url }: FastifyRequest, reply: FastifyReply, page: AnyPage): void {
  const links = pageLinks(url, page);
  if (links) reply.header('link', links);
  if (page instanceof Page && typeof page.meta.page !== 'number') {
    reply.type('application/json; charset=utf-8').serializer(stringify);
  }
}

type AnyPage = Page<unknown> | CursorPage<unknown>;

const isPage = (result: unknown): result is AnyPage => result instanceof Page || result instanceof CursorPage;
