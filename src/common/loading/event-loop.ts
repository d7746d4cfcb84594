/** How long pieces of long work run before the process serves what has arrived, in milliseconds. */
const SLICE = 4;

const waiting: (() => void)[] = [];
let startedAt = -Infinity;

/**
 * Waits for a time slice of the event loop. Pieces of long work run in order, in slices of {@link SLICE}; between two
 * slices the process serves other requests. Without that, all pieces that are ready would run first.
 */
export function yieldToEventLoop(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (waiting.push(resolve) === 1) setImmediate(startSlice);
  return promise;
}

function startSlice(): void {
  startedAt = performance.now();
  runPiece();
}

function runPiece(): void {
  waiting[0]!();
  // The piece runs in microtasks, all of which precede the next tick.
  queueMicrotask(() => process.nextTick(endPiece));
}

function endPiece(): void {
  waiting.shift();
  if (waiting.length === 0) return;
  if (isSliceOver()) setImmediate(startSlice);
  else runPiece();
}

const isSliceOver = (): boolean => performance.now() - startedAt > SLICE;

/** Requests with much work, with the number of their values that wait for the next slice. */
const sharing = new WeakMap<object, { waiting: number }>();

/** Makes the loaders of a request with much work yield to other requests. */
export function shareEventLoop(context: object): void {
  if (!sharing.has(context)) sharing.set(context, { waiting: 0 });
}

/** Passes on what was loaded for a request: in the next slice, if it shares the event loop and this slice is over. */
export function passOn<T>(context: object, loaded: Promise<T>): Promise<T> {
  const request = sharing.get(context);
  if (!request) return loaded;
  return loaded.then(async (value) => {
    if (isSliceOver()) {
      request.waiting++;
      await yieldToEventLoop();
      request.waiting--;
    }
    return value;
  });
}

/**
 * Loads a batch of a request when all values that were loaded before have been passed on: their fields may add to the
 * batch, and one statement loads all of it.
 */
export function whenPassedOn(context: object, load: () => void): void {
  // In the next tick all microtasks are over, as in DataLoader.
  queueMicrotask(() => process.nextTick(() => void loadOrWait(context, load)));
}

async function loadOrWait(context: object, load: () => void): Promise<void> {
  while ((sharing.get(context)?.waiting ?? 0) > 0) await yieldToEventLoop();
  load();
}

const nothing = (): void => undefined;

let lastLarge: Promise<void> = Promise.resolve();

/** Loads much data after all other such work, and yields before it, so that little of it is in memory at a time. */
export function loadLarge<T>(load: () => Promise<T>): Promise<T> {
  const loaded = lastLarge.then(yieldToEventLoop).then(load);
  // The chain must not keep the loaded data in memory until the next load.
  lastLarge = loaded.then(nothing, nothing);
  return loaded;
}
