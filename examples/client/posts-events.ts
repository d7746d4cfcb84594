/**
 * Follows the event stream with the types of the reference, and continues after the last event when the connection
 * is lost. It creates a post, waits until it is published, and ends.
 *
 *     npm start               # in one terminal
 *     npm run example:events  # in another; -- http://… for a service elsewhere
 */
import { parseArgs } from 'node:util';
import createClient from 'openapi-fetch';
import type { components, paths } from './api.d.ts';
import { dataOf, printErrors, RejectedRequest } from './results.ts';

type Event = components['schemas']['CloudEvent'];

const { positionals, values } = parseArgs({ options: { help: { type: 'boolean' } }, allowPositionals: true });
if (values.help) {
  console.log('Usage: npm run example:events [-- http://127.0.0.1:3000]');
  process.exit(0);
}

const baseUrl = positionals[0] ?? 'http://127.0.0.1:3000';
printErrors(baseUrl);
const api = createClient<paths, 'application/json'>({ baseUrl });

/** How long to wait before reconnecting, in milliseconds; the stream sends the same value. */
const RETRY = 2000;

/**
 * New events, over any number of connections. Node.js has no `EventSource` without a flag.
 *
 * @param onOpen called when the first connection is open
 */
async function* follow(
  types: readonly string[],
  signal: AbortSignal,
  onOpen: () => Promise<void>,
): AsyncGenerator<Event> {
  let lastEventId: string | undefined;
  while (!signal.aborted) {
    try {
      const result = await api.GET('/v1/events/stream', {
        params: {
          query: { types: types.join(',') },
          ...(lastEventId !== undefined && { header: { 'Last-Event-ID': lastEventId } }),
        },
        parseAs: 'stream',
        signal,
      });
      const data = dataOf(result);
      if (lastEventId === undefined) await onOpen();
      for await (const event of parse(data)) {
        lastEventId = event.id;
        yield event;
      }
    } catch (error) {
      if (signal.aborted) return;
      // The same request would be rejected again.
      if (error instanceof RejectedRequest) throw error;
      console.log(`The connection was lost: ${(error as Error).message}`);
    }
    await new Promise((resolve) => setTimeout(resolve, RETRY));
  }
}

/** Each event is a block of lines with one line of data. */
async function* parse(stream: ReadableStream<Uint8Array>): AsyncGenerator<Event> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield JSON.parse(data) as Event;
    }
  }
}

async function createAndPublish(): Promise<void> {
  const { data } = dataOf(
    await api.POST('/v1/posts', { body: { title: 'Followed', content: 'Some content' } }),
  );
  dataOf(
    await api.PATCH('/v1/posts/{id}', {
      params: { path: { id: data.id } },
      body: { status: 'published' },
    }),
  );
}

const ending = new AbortController();
for await (const { type, subject } of follow(
  ['post.created', 'post.published'],
  ending.signal,
  createAndPublish,
)) {
  console.log(`${type} ${subject}`);
  if (type === 'post.published') break;
}
ending.abort();
