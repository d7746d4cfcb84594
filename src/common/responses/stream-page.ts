import { Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import { stringify } from '../http/json-text.js';
import { loadMuch } from '../http/turns.js';
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
    // Otherwise the rows for many clients would be loaded and converted before anything else is served.
    const row = await loadMuch(async () => {
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
