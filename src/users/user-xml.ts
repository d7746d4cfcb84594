import type { UserViewV1 } from './user.view.js';

/** The end of the tag of a user in XML. */
export const XML_TAG = '.xml';

/** The formats of a user, as in `entityTag`: JSON and XML. */
export const TAG_FORMATS = ['', XML_TAG];

/** Characters that XML 1.0 (section 2.2) does not allow, even escaped. */
// oxlint-disable-next-line no-control-regex
const ILLEGAL = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** A parser converts other line breaks to LF (section 2.11), and `]]>` is not allowed in text. */
const ESCAPES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#13;' };

/** A user as an XML document, well-formed for every name; illegal characters become U+FFFD. */
export function toXml({ id, name }: UserViewV1): string {
  const text = name.replaceAll(ILLEGAL, '\uFFFD').replaceAll(/[&<>\r]/g, (char) => ESCAPES[char]!);
  return `<?xml version="1.0" encoding="UTF-8"?><user><id>${id}</id><name>${text}</name></user>`;
}
