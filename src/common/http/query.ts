/**
 * Stands for text whose bytes are no UTF-8: a lone surrogate, which no stored text contains and no rule
 * accepts. Taken as U+FFFD, as lenient decoders do, it would be found in texts that contain that.
 */
const UNDECODABLE = '\uD800';

/** Query parameters by name, decoded; of a repeated one the first value counts. Never throws. */
export function parseQuery(query: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  for (const parameter of query.split('&')) {
    const [name, value] = splitParameter(parameter);
    if (name !== '') values[name] ??= decode(value);
  }
  return values;
}

/**
 * The query with one parameter set to another value and the rest as it was, to the letter.
 *
 * @param value text that needs no encoding but for `=`, `+` and `/`
 */
export function withParameter(query: string, name: string, value: string): string {
  const isNamed = (part: string) => splitParameter(part)[0] === name;
  const parts = query.split('&').filter((part) => part !== '');
  const place = parts.findIndex(isNamed);
  const before = parts.slice(0, place === -1 ? parts.length : place);
  const after = parts.slice(before.length + 1).filter((part) => !isNamed(part));
  return [...before, `${name}=${encodeURIComponent(value)}`, ...after].join('&');
}

function splitParameter(parameter: string): [name: string, encodedValue: string] {
  const end = parameter.indexOf('=');
  return end === -1 ? [decode(parameter), ''] : [decode(parameter.slice(0, end)), parameter.slice(end + 1)];
}

function decode(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' ').replaceAll(/%(?![\da-f]{2})/gi, '%25'));
  } catch {
    return UNDECODABLE;
  }
}
