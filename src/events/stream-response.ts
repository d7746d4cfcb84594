import { finished, Readable } from 'node:stream';
import { StreamableFile } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { CredentialWatch } from '../platform/access/index.js';
import type { EventStream } from './event-stream.js';

/**
 * The response that sends a stream. Each ends with the other, and both end with the credential of the request: then the
 * client reconnects, and is rejected or gets fewer events.
 */
export function streamResponse(
  request: FastifyRequest,
  stream: EventStream,
  credentials: CredentialWatch,
): StreamableFile {
  // For HEAD, Fastify would read the whole body and send nothing.
  if (request.method === 'HEAD') {
    stream.destroy();
    return toFile(Readable.from([]));
  }
  const unwatch = credentials.watch(request, () => stream.end());
  // Nothing else notices a client that disconnects before the stream is sent.
  const { socket } = request.raw;
  const disconnect = (): unknown => stream.destroy();
  socket.once('close', disconnect);
  // Without the last chunk, because clients that read with `fetch` would take it for the end of all events.
  stream.once('end', () => socket.destroySoon());
  finished(stream, () => {
    socket.off('close', disconnect);
    // If the client has closed its side only, the socket would stay open.
    if (!stream.readableEnded) socket.destroy();
    unwatch();
  });
  if (socket.destroyed) stream.destroy();
  return toFile(stream);
}

const toFile = (body: Readable): StreamableFile => new StreamableFile(body, { type: 'text/event-stream' });
