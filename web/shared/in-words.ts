/** Some JSON as people read it, such as "item: Tea · count: 2", up to a length. */
export function inWords(json: unknown, length = 200): string {
  const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const words = isObject
    ? Object.entries(json)
        .map(([name, value]) => `${name}: ${text(value)}`)
        .join(' · ')
    : text(json);
  return words.length > length ? `${words.slice(0, length)} …` : words;
}
