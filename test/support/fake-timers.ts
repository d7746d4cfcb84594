const FAKEABLE = [
  'Date',
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

/** Options of `jest.useFakeTimers` that fake only these functions, and leave the others to databases and sockets. */
export const onlyFake = (...names: readonly (typeof FAKEABLE)[number][]) => ({
  doNotFake: FAKEABLE.filter((name) => !names.includes(name)),
});
