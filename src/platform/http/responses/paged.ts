import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { stringify } from '../json-text.js';
import { loadLarge } from '../event-loop.js';
import { pageLinks } from '../pages/links.js';
import { CursorPage, Page } from '../pages/page.js';

/** What a handler returns for a page: its body, or the stream of a large page. */
export type Paged<View> = Page<View>['body'] | CursorPage<View>['body'] | StreamableFile;

/** The response of a handler that has read a page: sets the `Link` header (RFC 8288). A large page is sent row by row. */
export function paged<View>(reply: FastifyReply, page: Page<View> | CursorPage<View>): Paged<View> {
  const { url, method } = reply.request;
  const links = pageLinks(url, page);
  if (links) reply.header('link', links);
  if (page instanceof Page && typeof page.meta.page !== 'number') {
    reply.type('application/json; charset=utf-8').serializer(stringify);
  }
  return page.completion ? streamPage(page, method) : page.body;
}

/**
 * Sends a large page row by row, as fast as the client reads. Each row is loaded right before it is sent, so that
 * neither a connection nor a transaction waits for the client.
 */
function streamPage(page: Page<unknown> | CursorPage<unknown>, method: string): StreamableFile {
  // For HEAD, Fastify would read the whole body and send nothing.
  const parts = method === 'HEAD' ? [] : partsOf(page);
  return new StreamableFile(Readable.from(parts), { type: 'application/json; charset=utf-8' });
}

/** Bytes: Node would copy a text to write it. */
async function* partsOf(page: Page<unknown> | CursorPage<unknown>): AsyncGenerator<Buffer> {
  const { data, ...rest } = page.body;
  yield Buffer.from('{"data":[');
  let separator = '';
  for (const index of data.keys()) {
    // Otherwise the rows for many clients would be loaded and converted before anything else is served.
    const row = await loadLarge(async () => {
      const whole = await page.completion?.(index);
      return whole === undefined ? undefined : Buffer.from(separator + stringify(whole));
    });
    // Deleted since the page was read.
    if (row === undefined) continue;
    yield row;
    separator = ',';
  }
  yield Buffer.from(`],${JSON.stringify(rest).slice(1)}`);
}
