import type { UserViewV1 } from './user.view.js';

/** What XML 1.0 (section 2.2) does not allow even escaped. */
// oxlint-disable-next-line no-control-regex
const ILLEGAL = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** A line break other than LF would be read as LF (section 2.11), and `]]>` may not stand in text. */
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };

/** A user as an XML document that is well-formed for every name; characters illegal in XML become U+FFFD. */
export function toXml({ id, name }: UserViewV1): string {
  const text = name.replaceAll(ILLEGAL, '\uFFFD').replaceAll(/[&<>\r]/g, (char) => ESCAPES[char]!);
  return `<?xml version="1.0" encoding="UTF-8"?><user><id>${id}</id><name>${text}</name></user>`;
}
