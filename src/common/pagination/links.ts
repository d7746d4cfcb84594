import { withParameter } from '../http/query.js';
import type { CursorPage, Page } from './page.js';

/** A longer address is not repeated in headers: proxies refuse answers whose headers are too large. */
const MAX_URL_LENGTH = 2048;

/**
 * The `Link` header (RFC 8288) of one page: relative references, which hold behind any proxy, with the
 * other parameters of the request as they were.
 */
export function pageLinks(url: string, page: Page<unknown> | CursorPage<unknown>): string | undefined {
  if (url.length > MAX_URL_LENGTH) return undefined;
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2);
  const link = (parameter: string, value: string | number, relation: string) => {
    const reference = `${path}?${withParameter(query, parameter, String(value))}`;
    return `<${encodeReference(reference)}>; rel="${relation}"`;
  };

  if ('next_cursor' in page) return page.next_cursor && link('cursor', page.next_cursor, 'next');

  const { total, limit, page: asked, has_next } = page.meta;
  const current = typeof asked === 'number' ? asked : Infinity;
  const last = Math.max(1, Math.ceil(total / limit));
  return [
    link('page', 1, 'first'),
    current > 1 && link('page', Math.min(current - 1, last), 'prev'),
    has_next && link('page', current + 1, 'next'),
    link('page', last, 'last'),
  ]
    .filter(Boolean)
    .join(', ');
}

/** Node lets characters into an address that may not stand in a header, or that would end the reference. */
const encodeReference = (reference: string): string =>
  reference.replaceAll(/[^!#-;=?-~]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
