/** How long pieces of long work run before the process serves what has arrived, in milliseconds. */
const SLICE = 4;

const waiting: (() => void)[] = [];
let startedAt = -Infinity;

/**
 * Waits for a time slice of the event loop. Pieces of long work run in order, in slices of {@link SLICE}; between two
 * slices the process serves other requests. Without that, all pieces that are ready would run first.
 */
export const yieldToEventLoop = (): Promise<void> => new Promise<void>(runInSlice);

/** Runs a piece of long work like {@link yieldToEventLoop}. */
function runInSlice(piece: () => void): void {
  if (waiting.push(piece) === 1) setImmediate(startSlice);
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

const nothing = (): void => undefined;

let lastLarge: Promise<void> = Promise.resolve();

/** Loads much data after all other such work, and yields before it, so that little of it is in memory at a time. */
export function loadLarge<T>(load: () => Promise<T>): Promise<T> {
  const loaded = lastLarge.then(yieldToEventLoop).then(load);
  // The chain must not keep the loaded data in memory until the next load.
  lastLarge = loaded.then(nothing, nothing);
  return loaded;
}
