const utf8 = (text: string) => Buffer.from(text);
const bytes = (...values: number[]) => Buffer.from(values);

/**
 * Bodies that are not a valid JSON object of a resource.
 *
 * @param field a required text
 * @param rest the other required fields, as JSON after a comma
 */
export function invalidBodies(field: string, rest = ''): [what: string, body: Buffer][] {
  const valid = `{"${field}":"T"${rest}}`;
  const withText = (text: Buffer) => Buffer.concat([utf8(`{"${field}":"`), text, utf8(`"${rest}}`)]);
  return [
    ['nothing', utf8('')],
    ['blanks', utf8(' \n\t ')],
    ['an array', utf8('[]')],
    ['an array of it', utf8(`[${valid}]`)],
    ['a string', utf8(`"${field}"`)],
    ['a number', utf8('12')],
    ['true', utf8('true')],
    ['null', utf8('null')],
    ['an object cut short', utf8(valid.slice(0, -1))],
    ['a string cut short', utf8(`{"${field}":"T`)],
    ['a trailing comma', utf8(`{"${field}":"T"${rest},}`)],
    ['two objects', utf8(valid + valid)],
    ['single quotes', utf8(valid.replaceAll('"', "'"))],
    ['names without quotes', utf8(valid.replaceAll(/"(\w+)":/g, '$1:'))],
    ['a comment', utf8(`{"${field}":/* c */"T"${rest}}`)],
    ['NaN', utf8(`{"${field}":"T"${rest},"x":NaN}`)],
    ['Infinity', utf8(`{"${field}":"T"${rest},"x":Infinity}`)],
    ['a number with a leading zero', utf8(`{"${field}":"T"${rest},"x":01}`)],
    ['a raw line feed in a string', utf8(`{"${field}":"T\n"${rest}}`)],
    ['a byte order mark', Buffer.concat([bytes(0xef, 0xbb, 0xbf), utf8(valid)])],
    ['UTF-16', Buffer.from(valid, 'utf16le')],
    ['a form', utf8(`${field}=T&content=C`)],
    ['XML', utf8(`<it><${field}>T</${field}></it>`)],
    ['a text named twice', utf8(`{"${field}":"T","${field}":"U"${rest}}`)],
    [
      'a text named twice, once with an escape',
      utf8(`{"${field}":"T","\\u0074${field.slice(1)}":"U"${rest}}`),
    ],
    ['a member named twice further down', utf8(`{"${field}":"T"${rest},"x":[{"a":1,"a":1}]}`)],
    ['__proto__', utf8(`{"${field}":"T"${rest},"__proto__":{"status":"done"}}`)],
    ['__proto__ with an escape', utf8(`{"${field}":"T"${rest},"\\u005f_proto__":{}}`)],
    ['a lone surrogate, escaped', withText(utf8(String.raw`\ud800`))],
    ['two surrogates the wrong way round', withText(utf8(String.raw`\udc00\ud800`))],
    ['a surrogate in UTF-8', withText(bytes(0xed, 0xa0, 0x80))],
    ['a stray continuation byte', withText(bytes(0x80))],
    ['a character cut short', withText(bytes(0xe2, 0x82))],
    ['an overlong slash', withText(bytes(0xc0, 0xaf))],
    ['a code point past the last', withText(bytes(0xf4, 0x90, 0x80, 0x80))],
    ['a byte of Latin-1', withText(bytes(0xe9))],
    ['NUL, escaped', withText(utf8(String.raw`\u0000`))],
    ['NUL, raw', withText(bytes(0))],
    ['NUL behind the object', utf8(`${valid}\0`)],
    ['arrays nested 200,000 deep', utf8('['.repeat(200_000) + ']'.repeat(200_000))],
    ['objects nested 150,000 deep', utf8('{"a":'.repeat(150_000) + '1' + '}'.repeat(150_000))],
    ['200,000 opening brackets', utf8('['.repeat(200_000))],
    [
      'a deep member beside a good resource',
      utf8(`{"${field}":"T"${rest},"x":${'['.repeat(200_000)}${']'.repeat(200_000)}}`),
    ],
    ['a deep text', utf8(`{"${field}":${'['.repeat(200_000)}${']'.repeat(200_000)}${rest}}`)],
  ];
}

/** An object with this many members and array elements in all, undeclared except for the given fields. */
export const withItems = (items: number, fields: object): string => {
  const rest = items - Object.keys(fields).length - 1;
  return JSON.stringify({ ...fields, rest: Array.from({ length: rest }, () => ({})) });
};

export const MAX_ITEMS = 10_000;

/** Content types other than that of JSON, with their names. */
export const OTHER_TYPES: readonly (readonly [name: string, type: string | undefined])[] = [
  ['no content type', undefined],
  ['text/plain', 'text/plain'],
  ['that of a form', 'application/x-www-form-urlencoded'],
  ['multipart', 'multipart/form-data; boundary=x'],
  ['XML', 'application/xml'],
  ['an empty content type', ''],
  ['an invalid content type', ';;;'],
];
