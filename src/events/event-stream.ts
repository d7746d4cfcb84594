import { finished, Readable } from 'node:stream';
import type { EventFilter } from '../platform/changes/stored-event.js';
import type { EventBatch, EventLog } from '../platform/changes/event-log.js';
import type { EventStore } from '../platform/changes/event-store.js';
import { StreamableFile } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { CredentialWatch } from '../platform/access/index.js';

/** 1 MiB: the maximum of data that waits for a slow consumer, besides the event being sent, in bytes. */
const MAX_WAITING = 1024 * 1024;

/** The size of a read for a consumer that continues from an earlier event. */
const READ = { limit: 100, bytes: 256 * 1024 };

/** Small events are sent together up to this size, in bytes. */
const CHUNK = 64 * 1024;

/** How long the client waits before it reconnects, in milliseconds. */
const START = Buffer.from('retry: 2000\n\n');
const COMMENT = Buffer.from(':\n\n');

/** The bytes of a batch, shared by all streams with the same filter. */
const rendered = new WeakMap<EventBatch, Map<string, readonly Buffer[]>>();

/**
 * The body of a stream (WHATWG HTML, section 9.2). It reads the database until it reaches the end of the log,
 * and then gets new events from the log; both have the same order, so no event is missed or repeated.
 */
export class EventStream extends Readable {
  private isLive = false;
  private isReading = false;
  private isOver = false;
  /** The size of events since the client last read, which stay in the database. */
  private missed = 0;

  /** @param position of the consumer's last event */
  constructor(
    private position: number,
    private readonly wanted: EventFilter,
    private readonly store: EventStore,
    private readonly log: EventLog,
  ) {
    super();
    this.push(START);
  }

  override _read(): void {
    this.missed = 0;
    if (!this.isLive && !this.isReading) this.catchUp();
  }

  /** Accepts a batch of new events. */
  accept(batch: EventBatch): void {
    if (this.isOver || this.destroyed) return;
    const last = batch.events.at(-1)!.position;
    if (last <= this.position) return;
    const chunks = batch.after >= this.position ? sharedChunks(batch, this.wanted) : this.chunksOf(batch);
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    if (this.isLive && this.readableLength + bytes <= MAX_WAITING) {
      this.position = last;
      for (const chunk of chunks) this.push(chunk);
      return;
    }
    // A slow client gets them from the database; one that reads nothing is disconnected.
    const isWaiting = this.readableLength > 0 && !this.isReading;
    this.missed += isWaiting ? bytes : 0;
    if (this.missed > MAX_WAITING) {
      this.destroy();
      return;
    }
    if (!this.isLive) return;
    this.isLive = false;
    if (!this.isReading) this.catchUp();
  }

  /** Shows the client and proxies that the connection is alive. */
  keepAlive(): void {
    if (!this.isOver && !this.destroyed && this.readableLength === 0) this.push(COMMENT);
  }

  /** Ends it after the pending events; the client reconnects. */
  end(): void {
    this.isOver = true;
    if (!this.destroyed) this.push(null);
  }

  private catchUp(): void {
    this.isReading = true;
    this.readLog().catch((error: Error) => this.destroy(error));
  }

  /** Reads as fast as the client, up to the last event that the log has passed on. */
  private async readLog(): Promise<void> {
    while (!this.isLive) {
      const { head } = this.log;
      const rows = await this.store.read(this.position, this.wanted, READ);
      if (this.isOver || this.destroyed) return;
      if (rows.length === 0) {
        this.position = Math.max(this.position, head);
        this.isLive = this.position >= this.log.head;
        continue;
      }
      this.position = rows.at(-1)!.position;
      const hasRoom = rows.map((row) => this.push(this.log.toEvent(row).frame)).at(-1);
      if (hasRoom) continue;
      // `_read` may be called again before this promise resolves.
      this.isReading = false;
      return;
    }
    this.isReading = false;
  }

  private chunksOf({ events }: EventBatch): Buffer[] {
    return events
      .filter((event) => event.position > this.position && this.wanted.accepts(event))
      .map(({ frame }) => frame);
  }
}

function sharedChunks(batch: EventBatch, filter: EventFilter): readonly Buffer[] {
  let chunks = rendered.get(batch);
  if (!chunks) rendered.set(batch, (chunks = new Map()));
  let own = chunks.get(filter.key);
  if (!own) {
    const frames = batch.events.filter((event) => filter.accepts(event)).map(({ frame }) => frame);
    chunks.set(filter.key, (own = joined(frames)));
  }
  return own;
}

function joined(frames: readonly Buffer[]): Buffer[] {
  const chunks: Buffer[] = [];
  let small: Buffer[] = [];
  let length = 0;
  for (const frame of frames) {
    if (length > 0 && length + frame.length > CHUNK) {
      chunks.push(Buffer.concat(small));
      small = [];
      length = 0;
    }
    small.push(frame);
    length += frame.length;
  }
  if (length > 0) chunks.push(Buffer.concat(small));
  return chunks;
}

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
