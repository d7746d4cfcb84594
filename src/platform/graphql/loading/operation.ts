import type { FastifyRequest } from 'fastify';
import { AppError } from '../../http/errors/errors.js';
import { networkOf } from '../../http/client.js';
import { yieldToEventLoop } from '../../http/event-loop.js';
import { memory, Reservation } from './operation-memory.js';

/** 16 MiB: the maximum text in the response, in bytes. */
const MAX_TEXT = 16 * 1024 * 1024;

/** An operation with more text, in bytes, is large. */
const MUCH_TEXT = 256 * 1024;

/** The heap that an object takes until its response is complete, with six fields (measured: 4.2 KB). */
const BYTES_PER_OBJECT = 4096;

/** Property of the context: in a `WeakMap`, an operation would keep its context in memory until a full collection. */
const OPERATION = Symbol('operation');

/**
 * What a GraphQL operation loads. A large one, with many objects or much text, yields to other requests between the
 * values that its loaders pass on, and reserves memory for them.
 */
export class Operation {
  /** Of a large operation. */
  private reservation: Reservation | undefined;
  /** The text that it has selected, in bytes, and that for which it has reserved memory. */
  private text = { selected: 0, reserved: 0 };
  /** One error for all fields: one for each would take long. */
  private tooMuchText: AppError | undefined;
  /** The number of values that have been loaded, and are not passed on yet. */
  private loadedValues = 0;
  private onPassedOn: PromiseWithResolvers<void> | undefined;
  /** Whether the response is complete. After an error, graphql-js still executes fields, whose results nobody gets. */
  hasEnded = false;

  private constructor(private readonly context: object) {}

  static of(context: object): Operation {
    return ((context as Record<symbol, Operation>)[OPERATION] ??= new Operation(context));
  }

  get hasMuchText(): boolean {
    return this.text.selected > MUCH_TEXT;
  }

  markLarge(): void {
    // Nobody would free what an ended operation reserves.
    if (this.hasEnded || this.reservation) return;
    const { req } = this.context as { req?: FastifyRequest };
    this.reservation = new Reservation(req ? networkOf(req.context.client.address) : '');
  }

  /**
   * Waits until a large operation may take more memory. Other operations take it at once.
   *
   * @throws AppError `SERVICE_UNAVAILABLE` after ten seconds
   */
  async reserve(bytes: number): Promise<void> {
    if (this.reservation) await memory.reserve(this.reservation, bytes);
  }

  /** Counts text of the response, before it is loaded. @param bytes as often as it is selected */
  selectText(bytes: number): void {
    this.text.selected += bytes;
  }

  /**
   * Reserves memory for the text that has been selected since the last time.
   *
   * @throws AppError `QUERY_TOO_COMPLEX`; `SERVICE_UNAVAILABLE` if other operations use the memory
   */
  async reserveText(): Promise<void> {
    const { selected, reserved } = this.text;
    if (selected > MAX_TEXT) throw (this.tooMuchText ??= tooMuchText());
    if (this.hasMuchText) this.markLarge();
    this.text.reserved = selected;
    await this.reserve(selected - reserved);
  }

  /** Passes on what was loaded: of a large operation, when there is memory, and in a slice of the event loop. */
  passOn<T>(loaded: Promise<T>): Promise<T> {
    return this.reservation ? this.passOnLarge(loaded, this.reservation) : loaded;
  }

  /**
   * Loads a batch when all values that were loaded before have been passed on: their fields may add to the batch, and
   * one statement loads all of it.
   */
  whenPassedOn(load: () => void): void {
    // In the next tick all microtasks are over, as in DataLoader.
    queueMicrotask(() => process.nextTick(() => void this.allPassedOn().then(load)));
  }

  /**
   * Frees the memory of an operation whose response is complete.
   *
   * @returns why it has got no memory, if it has not
   */
  end(): AppError | undefined {
    this.hasEnded = true;
    if (this.reservation) memory.release(this.reservation);
    return this.reservation?.failure;
  }

  private async passOnLarge<T>(loaded: Promise<T>, reservation: Reservation): Promise<T> {
    const value = await loaded;
    this.loadedValues++;
    try {
      await memory.reserve(reservation, objectsIn(value) * BYTES_PER_OBJECT);
      await yieldToEventLoop();
    } finally {
      this.removeLoadedValue();
    }
    return value;
  }

  /** Waits until no loaded value waits, also not for the fields of those that have been passed on. */
  private async allPassedOn(): Promise<void> {
    while (this.loadedValues > 0) {
      this.onPassedOn ??= Promise.withResolvers();
      await this.onPassedOn.promise;
      await yieldToEventLoop();
    }
  }

  private removeLoadedValue(): void {
    this.loadedValues--;
    if (this.loadedValues > 0) return;
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

const tooMuchText = (): AppError =>
  new AppError(
    'QUERY_TOO_COMPLEX',
    `The texts of the response take more than ${MAX_TEXT} bytes; ask for fewer objects`,
  );
