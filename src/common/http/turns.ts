/** How long pieces of long work run before the process serves what has arrived, in milliseconds. */
const SLICE = 4;

const waiting: (() => void)[] = [];
let startedAt = -Infinity;

/**
 * Waits for a turn of the event loop. Pieces of long work take turns of {@link SLICE}, in order; between two turns
 * the process serves other requests. Without that, all pieces that are ready would run first.
 */
export function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (waiting.push(resolve) === 1) setImmediate(startTurn);
  return promise;
}

function startTurn(): void {
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
  if (isTurnOver()) setImmediate(startTurn);
  else runPiece();
}

const isTurnOver = (): boolean => performance.now() - startedAt > SLICE;

/** Requests with much work, with the number of their values that wait for the next turn. */
const sharing = new WeakMap<object, { waiting: number }>();

/** Lets the loaders of a request with much work share the event loop with other requests. */
export function takeTurns(context: object): void {
  if (!sharing.has(context)) sharing.set(context, { waiting: 0 });
}

/** Passes on what was loaded for a request: in the next turn, if it takes turns and this one is over. */
export function inTurn<T>(context: object, loaded: Promise<T>): Promise<T> {
  const request = sharing.get(context);
  if (!request) return loaded;
  return loaded.then(async (value) => {
    if (isTurnOver()) {
      request.waiting++;
      await nextTurn();
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
  while ((sharing.get(context)?.waiting ?? 0) > 0) await nextTurn();
  load();
}

const nothing = (): void => undefined;

let lastOfMuch: Promise<void> = Promise.resolve();

/** Loads much data in a turn of its own, after all other such work, so that little of it is in memory at a time. */
export function loadMuch<T>(load: () => Promise<T>): Promise<T> {
  const loaded = lastOfMuch.then(nextTurn).then(load);
  // The chain must not keep the loaded data in memory until the next load.
  lastOfMuch = loaded.then(nothing, nothing);
  return loaded;
}
