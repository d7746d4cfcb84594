import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { stringify } from '../http/json-text.js';
import type { CursorPage, Page } from '../pagination/page.js';

/**
 * Sends a large page row by row, as fast as the client reads. Each row is loaded right before it is sent, so that
 * neither a connection nor a transaction waits for the client.
 */
export function streamPage(page: Page<unknown> | CursorPage<unknown>, method: string): StreamableFile {
  // For HEAD, Fastify would read the whole body and send nothing.
  const parts = method === 'HEAD' ? [] : partsOf(page);
  return new StreamableFile(Readable.from(parts), { type: 'application/json; charset=utf-8' });
}

/** Bytes: Node would copy a text to write it. */
async function* partsOf(page: Page<unknown> | CursorPage<unknown>): AsyncGenerator<Buffer> {
  const { data, ...rest } = page;
  yield Buffer.from('{"data":[');
  let separator = '';
  for (const index of data.keys()) {
    const whole = await page.completion?.(index);
    // Deleted since the page was read.
    if (whole === undefined) continue;
    yield Buffer.from(separator + stringify(whole));
    separator = ',';
  }
  yield Buffer.from(`],${JSON.stringify(rest).slice(1)}`);
}
