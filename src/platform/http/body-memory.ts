import { Transform } from 'node:stream';
import type { RouteOptions } from 'fastify';
import { networkOf } from './client.js';
import { Counts } from './edge/connection-limit.js';
import { AppError } from './errors/errors.js';
import { hasBody } from './methods.js';
import { onResponseEnd } from './response-end.js';
import { appendHook } from './routes.js';

/** 64 MiB: the memory of the bodies of all requests that arrive or are handled, in bytes. */
const BUDGET = 64 * 1024 * 1024;

/** The part of it that one client may use, in bytes. */
const SHARE = BUDGET / 4;

/** The bytes of the bodies under way, of each client and together. */
export class BodyMemory {
  private readonly held = new Counts();
  private total = 0;

  /** @throws AppError `SERVICE_UNAVAILABLE` */
  reserve(client: string, bytes: number): void {
    if (this.total + bytes > BUDGET || this.held.of(client) + bytes > SHARE) {
      throw new AppError('SERVICE_UNAVAILABLE', 'Too many bodies are being sent; retry later', {
        // The rest of the body would still arrive.
        headers: { connection: 'close' },
      });
    }
    this.add(client, bytes);
  }

  free(client: string, bytes: number): void {
    this.add(client, -bytes);
  }

  private add(client: string, bytes: number): void {
    this.total += bytes;
    this.held.add(client, bytes);
  }
}

/**
 * Reserves the memory of a body until the end of the response, because the request keeps the body until then: by its
 * `Content-Length`, before it arrives, otherwise as it arrives.
 */
export function boundBodies(route: RouteOptions, memory: BodyMemory): void {
  if (!hasBody(route)) return;
  appendHook(route, 'preParsing', (request, reply, payload, done) => {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    if (length === undefined && coding === undefined) {
      done(null, payload);
      return;
    }
    const client = networkOf(request.context.client.address);
    let reserved = 0;
    let isOver = false;
    const reserve = (bytes: number) => {
      // What still arrives of a rejected body is dropped.
      if (isOver) return;
      memory.reserve(client, bytes);
      reserved += bytes;
    };
    try {
      // A body that is too large is not read.
      if (length !== undefined && Number(length) <= request.routeOptions.bodyLimit) reserve(Number(length));
    } catch (error) {
      done(error as AppError);
      return;
    }
    const stream = length === undefined ? measured(payload, reserve) : payload;
    onResponseEnd(request, reply, () => {
      isOver = true;
      memory.free(client, reserved);
      // Otherwise the rest of a rejected body would keep the connection open.
      stream.resume();
    });
    done(null, stream);
  });
}

/** @param reserve throws when there is no memory for what has arrived */
function measured(payload: NodeJS.ReadableStream, reserve: (bytes: number) => void): Transform {
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      try {
        reserve(chunk.length);
      } catch (error) {
        done(error as AppError);
        return;
      }
      done(null, chunk);
    },
  });
  // It may be destroyed when nobody reads it, because the body was rejected by its type.
  measure.on('error', () => undefined);
  payload.on('error', (error) => measure.destroy(error));
  return payload.pipe(measure);
}
