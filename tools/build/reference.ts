type Json = Record<string, any>;

/** On an operation: whether credentials are required or optional unless `WRITE_ACCESS` is `open`. */
const UNLESS_OPEN = 'x-credentials-unless-open';

/**
 * The document as it holds in a mode. While `WRITE_ACCESS` is `open`, operations that depend on the setting look at no
 * credentials.
 */
export function forMode(document: Json, mode: 'open' | 'accounts'): Json {
  for (const item of Object.values<Json>(document['paths'])) {
    for (const operation of Object.values<Json>(item)) {
      const { [UNLESS_OPEN]: credentials, security } = operation;
      delete operation[UNLESS_OPEN];
      if (credentials === undefined) continue;
      if (mode === 'open') operation['security'] = [];
      else if (credentials === 'required')
        operation['security'] = security.filter((way: object) => Object.keys(way).length > 0);
    }
  }
  return document;
}
