import { aroundParameter, splitOnce } from '../query.js';
import { CursorPage, type Page } from './page.js';

/** A longer address is not repeated in headers: proxies reject responses whose headers are too large. */
const MAX_URL_LENGTH = 2048;

/**
 * The `Link` header (RFC 8288) of a page: relative references, which are right behind any proxy, with the
 * other parameters of the request unchanged.
 */
export function pageLinks(url: string, page: Page<unknown> | CursorPage<unknown>): string | undefined {
  if (url.length > MAX_URL_LENGTH) return undefined;
  if (page instanceof CursorPage) {
    return page.next_cursor && linksOf(url, 'cursor')(page.next_cursor, 'next');
  }

  const { total, limit, page: asked, has_next } = page.meta;
  const current = typeof asked === 'number' ? asked : Infinity;
  const last = Math.max(1, Math.ceil(total / limit));
  const link = linksOf(url, 'page');
  const links = [link(1, 'first')];
  if (current > 1) links.push(link(Math.min(current - 1, last), 'prev'));
  if (has_next) links.push(link(current + 1, 'next'));
  links.push(link(last, 'last'));
  return links.join(', ');
}

/** Creates a link to the same address with another value of one parameter. */
function linksOf(url: string, parameter: string) {
  const [path, query] = splitOnce(url, '?');
  const [before, after] = aroundParameter(query, parameter);
  const start = encodeReference(`${path}?${before}`);
  const end = encodeReference(after);
  return (value: string | number, relation: string) =>
    `<${start}${encodeURIComponent(value)}${end}>; rel="${relation}"`;
}

/** Node accepts characters in an address that are invalid in a header, or would end the reference. */
const encodeReference = (reference: string): string =>
  reference.replaceAll(/[^!#-;=?-~]/g, (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
