/**
 * Stands for text whose bytes are no UTF-8: a lone surrogate, which no stored text contains and no rule
 * accepts. Taken as U+FFFD, as lenient decoders do, it would be found in texts that contain that.
 */
const UNDECODABLE = '\uD800';

/** Query parameters by name, decoded; of a repeated one the first value counts. Never throws. */
export function parseQuery(query: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null);
  if (query === '') return values;
  for (const parameter of query.split('&')) {
    const [name, value] = splitParameter(parameter);
    if (name !== '') values[name] ??= decode(value);
  }
  return values;
}

/**
 * What stands before and after the value of one parameter, once it is set: the rest of the query as it was,
 * to the letter.
 */
export function aroundParameter(query: string, name: string): [before: string, after: string] {
  const isNamed = (part: string) => splitParameter(part)[0] === name;
  const parts = query.split('&').filter((part) => part !== '');
  const place = parts.findIndex(isNamed);
  const before = parts.slice(0, place === -1 ? parts.length : place);
  const after = parts.slice(before.length + 1).filter((part) => !isNamed(part));
  return [[...before, `${name}=`].join('&'), after.map((part) => `&${part}`).join('')];
}

/** A text before and after the first place of a separator; all of it is before, if that is nowhere. */
export function splitOnce(text: string, separator: string): [before: string, after: string] {
  const place = text.indexOf(separator);
  return place === -1 ? [text, ''] : [text.slice(0, place), text.slice(place + separator.length)];
}

function splitParameter(parameter: string): [name: string, encodedValue: string] {
  const [name, value] = splitOnce(parameter, '=');
  return [decode(name), value];
}

function decode(text: string): string {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' ').replaceAll(/%(?![\da-f]{2})/gi, '%25'));
  } catch {
    return UNDECODABLE;
  }
}
