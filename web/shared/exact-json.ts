/** A number as JSON text, which a number of JavaScript would change: `9.90`, `1e400`, or 2^53 + 1. */
class ExactNumber {
  constructor(private readonly text: string) {}

  /** JSON.stringify calls it. */
  toJSON(): unknown {
    return (JSON as unknown as { rawJSON: (text: string) => unknown }).rawJSON(this.text);
  }
}

/** Of "JSON.parse source text access" (ECMAScript), which TypeScript does not type yet. Browsers before 2025 have none. */
type Parse = (
  text: string,
  reviver: (name: string, value: unknown, context?: { readonly source?: string }) => unknown,
) => unknown;

/** Parses JSON whose numbers JSON.stringify writes as they were. */
export const parseExactly = (json: string): unknown =>
  (JSON.parse as Parse)(json, (_, value, { source } = {}) =>
    typeof value === 'number' && source !== undefined && String(value) !== source
      ? new ExactNumber(source)
      : value,
  );
