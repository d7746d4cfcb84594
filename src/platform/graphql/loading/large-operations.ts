import type { FastifyRequest } from 'fastify';
import { AppError } from '../../http/errors/errors.js';
import { clientOf, networkOf } from '../../http/client.js';
import { runInSlice, yieldToEventLoop } from '../../http/event-loop.js';

/** 64 MiB: what all operations under way may reserve together, in bytes. */
const BUDGET = 64 * 1024 * 1024;

/** What the operations of one client may reserve while others wait, in bytes. */
const SHARE = BUDGET / 4;

/** How long an operation waits for memory, in milliseconds. */
const PATIENCE = 10_000;

/** The heap that an object takes until its response is complete, with six fields (measured: 4.2 KB). */
const BYTES_PER_OBJECT = 4096;

interface Request {
  readonly bytes: number;
  readonly granted: PromiseWithResolvers<void>;
}

/** A GraphQL operation with much work or text. */
class LargeOperation {
  /** The memory that it has reserved, in bytes. */
  reserved = 0;
  /** The number of values that have been loaded, and wait to be passed on. */
  private waitingValues = 0;
  private onPassedOn: PromiseWithResolvers<void> | undefined;
  readonly requests: Request[] = [];
  timeout: NodeJS.Timeout | undefined;
  /** Why it has got no memory: it waited too long. */
  failure: AppError | undefined;
  /** Whether its response is complete. After an error, graphql-js still executes fields, whose results nobody gets. */
  hasEnded = false;

  constructor(readonly client: string) {}

  /** The value, when there is memory for its objects, and in a slice of the event loop. */
  passOn<T>(value: T): Promise<T> {
    const objects = objectsIn(value);
    this.waitingValues++;
    return new Promise((resolve, reject) => {
      const pass = () => {
        runInSlice(() => {
          this.removeWaiting();
          resolve(value);
        });
      };
      const fail = (error: Error) => {
        this.removeWaiting();
        reject(error);
      };
      if (objects === 0) pass();
      else memory.reserve(this, objects * BYTES_PER_OBJECT).then(pass, fail);
    });
  }

  /** Waits until no loaded value waits, also not for the fields of those that have been passed on. */
  async allPassedOn(): Promise<void> {
    while (this.waitingValues > 0) {
      this.onPassedOn ??= Promise.withResolvers();
      await this.onPassedOn.promise;
      await yieldToEventLoop();
    }
  }

  private removeWaiting(): void {
    this.waitingValues--;
    if (this.waitingValues > 0) return;
    const { onPassedOn } = this;
    this.onPassedOn = undefined;
    onPassedOn?.resolve();
  }
}

/** A text counts when it is loaded. */
function objectsIn(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return typeof value === 'object' && value !== null ? 1 : 0;
}

/**
 * The memory of the large operations of all clients. The oldest operation that has memory gets what it needs, so that
 * operations never wait for each other; the others wait until it is free. Clients take turns.
 */
class OperationMemory {
  private reserved = 0;
  /** Operations with memory, the oldest first. */
  private readonly holders = new Set<LargeOperation>();
  /** The operations that wait, by client, in the order of the rotation. */
  private readonly waiting = new Map<string, Set<LargeOperation>>();

  /** @throws AppError `SERVICE_UNAVAILABLE` if there is not enough memory in time */
  async reserve(operation: LargeOperation, bytes: number): Promise<void> {
    if (bytes === 0) return undefined;
    if (operation.failure) throw operation.failure;
    if (operation.hasEnded) return undefined;
    if (operation.requests.length === 0 && this.isFree(operation, bytes)) return this.take(operation, bytes);
    const granted = Promise.withResolvers<void>();
    operation.requests.push({ bytes, granted });
    operation.timeout ??= setTimeout(() => this.fail(operation), PATIENCE).unref();
    const ofClient = this.waiting.get(operation.client) ?? new Set();
    this.waiting.set(operation.client, ofClient.add(operation));
    return granted.promise;
  }

  release(operation: LargeOperation): void {
    operation.hasEnded = true;
    this.stopWaiting(operation);
    for (const { granted } of operation.requests.splice(0)) granted.resolve();
    if (!this.holders.delete(operation)) return;
    this.reserved -= operation.reserved;
    operation.reserved = 0;
    while (this.grantNext());
  }

  /** Grants one request. @returns whether there was one */
  private grantNext(): boolean {
    for (const [client, operations] of this.waiting) {
      for (const operation of operations) {
        const [request] = operation.requests;
        if (!this.isFree(operation, request!.bytes)) continue;
        operation.requests.shift();
        if (operation.requests.length === 0) this.stopWaiting(operation);
        if (this.waiting.delete(client)) this.waiting.set(client, operations);
        this.take(operation, request!.bytes);
        request!.granted.resolve();
        return true;
      }
    }
    return false;
  }

  private isFree(operation: LargeOperation, bytes: number): boolean {
    const [oldest = operation] = this.holders;
    if (oldest === operation) return true;
    if (this.reserved + bytes > BUDGET) return false;
    const { client } = operation;
    const isWanted = this.waiting.size > (this.waiting.has(client) ? 1 : 0);
    return !isWanted || this.heldBy(client) + bytes <= SHARE;
  }

  private take(operation: LargeOperation, bytes: number): void {
    this.holders.add(operation);
    this.reserved += bytes;
    operation.reserved += bytes;
  }

  private heldBy(client: string): number {
    let bytes = 0;
    for (const operation of this.holders) if (operation.client === client) bytes += operation.reserved;
    return bytes;
  }

  private fail(operation: LargeOperation): void {
    operation.failure = new AppError(
      'SERVICE_UNAVAILABLE',
      'Too many large operations are running; retry later',
    );
    const requests = operation.requests.splice(0);
    this.stopWaiting(operation);
    for (const { granted } of requests) granted.reject(operation.failure);
  }

  private stopWaiting(operation: LargeOperation): void {
    clearTimeout(operation.timeout);
    operation.timeout = undefined;
    const operations = this.waiting.get(operation.client);
    operations?.delete(operation);
    if (operations?.size === 0) this.waiting.delete(operation.client);
  }
}

const memory = new OperationMemory();

/** By the contexts of the operations. */
const largeOperations = new WeakMap<object, LargeOperation>();

/** Makes an operation with much work yield to other requests, and reserve memory for what its loaders load. */
export function markLarge(context: object): void {
  // Nobody would free what an ended operation reserves.
  if (hasEnded(context) || largeOperations.has(context)) return;
  const { req } = context as { req?: FastifyRequest };
  largeOperations.set(context, new LargeOperation(req ? networkOf(clientOf(req).address) : ''));
}

/**
 * Waits until a large operation may take more memory. Other operations take it at once.
 *
 * @throws AppError `SERVICE_UNAVAILABLE` after ten seconds
 */
export async function reserveMemory(context: object, bytes: number): Promise<void> {
  const operation = largeOperations.get(context);
  if (operation) await memory.reserve(operation, bytes);
}

/** Property of the context of an operation that has ended: an entry of a `WeakMap` for each request would be slower. */
const ENDED = Symbol('ended');

/** Whether the response of an operation is complete. After an error, graphql-js still executes other fields. */
export const hasEnded = (context: object): boolean => ENDED in context;

/**
 * Frees the memory of an operation whose response is complete.
 *
 * @param isOver false for one event of a subscription, whose events have one context
 * @returns why it has got no memory, if it has not
 */
export function releaseMemory(context: object, isOver: boolean): AppError | undefined {
  const operation = largeOperations.get(context);
  if (isOver) Object.assign(context, { [ENDED]: true });
  else largeOperations.delete(context);
  if (operation) memory.release(operation);
  return operation?.failure;
}

/** Passes on what was loaded for an operation: if it is large, when there is memory, and in a slice of the event loop. */
export function passOn<T>(context: object, loaded: Promise<T>): Promise<T> {
  const operation = largeOperations.get(context);
  return operation ? loaded.then((value) => operation.passOn(value)) : loaded;
}

/**
 * Loads a batch of a request when all values that were loaded before have been passed on: their fields may add to the
 * batch, and one statement loads all of it.
 */
export function whenPassedOn(context: object, load: () => void): void {
  // In the next tick all microtasks are over, as in DataLoader.
  queueMicrotask(() => {
    process.nextTick(
      () => void (largeOperations.get(context)?.allPassedOn() ?? Promise.resolve()).then(load),
    );
  });
}
