const DECIMAL = /^[+-]?\d+$/;
const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

/** A signed 64-bit integer in decimal digits, with an optional sign; `undefined` for anything else. */
export function parseInt64(text: string): bigint | undefined {
  if (!DECIMAL.test(text)) return undefined;
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  return value >= MIN && value <= MAX ? value : undefined;
}
