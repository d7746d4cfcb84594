/**
 * Replaces text that is not UTF-8 by a lone surrogate, which no stored text contains and no rule
 * accepts. With U+FFFD, as lenient decoders use, a search would find texts that contain that.
 */
const UNDECODABLE = '\uD800';

/** Query parameters by name, decoded; a repeated parameter has all of its values, in order. */
export type QueryParameters = Readonly<Record<string, string | string[]>>;

/** Reads the query of a URL. Never throws. */
export function parseQuery(query: string): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = Object.create(null);
  if (query === '') return values;
  for (const parameter of query.split('&')) {
    const [name, encoded] = splitParameter(parameter);
    if (name === '') continue;
    const value = decode(encoded);
    const known = values[name];
    if (known === undefined) values[name] = value;
    else if (typeof known === 'string') values[name] = [known, value];
    else known.push(value);
  }
  return values;
}

/** The query without all but the first value of each parameter. */
export function withFirstValues(query: string): string {
  const names = new Set<string>();
  const isFirst = (parameter: string) => names.size < names.add(splitParameter(parameter)[0]).size;
  return query.split('&').filter(isFirst).join('&');
}

/**
 * The text before and after the value of one parameter, once it is set; the rest of the query is
 * unchanged.
 */
export function aroundParameter(query: string, name: string): [before: string, after: string] {
  const isNamed = (part: string) => splitParameter(part)[0] === name;
  const parts = query.split('&').filter((part) => part !== '');
  const place = parts.findIndex(isNamed);
  const before = parts.slice(0, place === -1 ? parts.length : place);
  const after = parts.slice(before.length + 1).filter((part) => !isNamed(part));
  return [[...before, `${name}=`].join('&'), after.map((part) => `&${part}`).join('')];
}

/** The text before and after the first separator; all of it is before, if there is none. */
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
