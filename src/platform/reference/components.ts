import { ERRORS, type ErrorCode } from '../http/errors/errors.js';

type Json = Record<string, any>;

/** The example value of a field with this name, unless its own schema has an example. */
export const EXAMPLES: Json = {
  title: 'Straße nach Rom',
  content: 'Alle Wege führen dahin.',
  name: 'Ada',
  email: 'ada@example.com',
  new_email: 'ada@example.org',
  phone: '+44 20 7946 0000',
  password: 'first programmer',
  old_password: 'first programmer',
  new_password: 'analytical engine',
  token: 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl',
  refresh: 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl',
  access: 'eyJhbGciOiJIUzI1NiJ9.e30.c2lnbmF0dXJl',
  code: 'b2theSBub3QgYSBjb2Rl',
  provider: 'google',
  text: 'Some text',
  description: 'The search index',
};

/** Those of parameters that tools send before anybody has changed them: each is accepted everywhere. */
const PARAMETER_EXAMPLES: Json = {
  cursor: '',
  last_event_id: '',
  'Last-Event-ID': '',
  q: '',
  'If-Match': '*',
  // `*` would be 304.
  'If-None-Match': '"x"',
  return: 'account',
  // RFC 7636, appendix B.
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
};

/** The example value of a parameter, which collections for Postman take from nowhere else. */
export function parameterExample({ in: place, name, schema = {} }: Json): unknown {
  const { example, examples, default: usual, enum: values, type } = schema;
  const own = PARAMETER_EXAMPLES[name] ?? example ?? examples?.[0] ?? usual ?? values?.[0];
  return own ?? (type === 'integer' ? 1 : place === 'path' ? '1' : undefined);
}

// Parts of the reference that many operations use.

export const idParameter = (name: string): Json => ({
  name,
  in: 'path',
  required: true,
  description: 'A decimal integer of 64 bits.',
  schema: { type: 'integer', format: 'int64', examples: [1] },
});

export const keyParameter = (required: boolean): Json => ({
  name: 'Idempotency-Key',
  in: 'header',
  required,
  description: 'Makes the request safe to repeat for 24 hours: 1 to 255 visible ASCII characters.',
  schema: { type: 'string', maxLength: 255, examples: ['2f1c5f0a-6a53-4d7e-9d4e-6f1f0c6f6c1b'] },
});

export const IF_MATCH: Json = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description:
    'Entity tags, or `*`: the change is made only if one of them is current, so it cannot overwrite a change that you have not read.',
  schema: { type: 'string' },
};

export const IF_NONE_MATCH: Json = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'Entity tags, or `*`: the response is 304, without a body, if one of them is current.',
  schema: { type: 'string' },
};

export const NOT_MODIFIED: Json = {
  description: 'Your copy is current.',
  headers: Object.fromEntries(
    ['X-Request-ID', 'ETag', 'Cache-Control'].map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  ),
};

const header = (description: string, schema: Json): Json => ({ description, schema });

export const HEADERS: Json = {
  'X-Request-ID': header('Unique for each response.', { type: 'string', format: 'uuid' }),
  Location: header('The path of the new resource.', { type: 'string' }),
  ETag: header('Changes with every change of the resource (RFC 9110, section 8.8.3).', { type: 'string' }),
  'Cache-Control': header('Revalidate each time with `If-None-Match`; `private` if it depends on who asks.', {
    type: 'string',
    enum: ['no-cache', 'private, no-cache'],
  }),
  Link: header('Links to other pages (RFC 8288).', { type: 'string' }),
  'Idempotent-Replayed': header('Only on a repeated response.', {
    type: 'string',
    const: 'true',
  }),
  // Without an enum: generators write its quotes into code unescaped.
  'WWW-Authenticate': header(
    '`Bearer`, with `error="invalid_token"` if the request had a token (RFC 6750).',
    { type: 'string' },
  ),
  'Retry-After': header('Seconds to wait before the next attempt.', { type: 'string', pattern: '^\\d+$' }),
};

const CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => code !== 'QUERY_TOO_COMPLEX');

const FIELD_ERRORS: Json = {
  type: 'array',
  description: 'The invalid fields; absent when no field is the cause.',
  minItems: 1,
  items: {
    type: 'object',
    required: ['field', 'message'],
    additionalProperties: false,
    properties: { field: { type: 'string' }, message: { type: 'string' } },
  },
};

/** The body of an error. */
export const ERROR_RESPONSE: Json = {
  type: 'object',
  required: ['error'],
  additionalProperties: false,
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message'],
      additionalProperties: false,
      properties: {
        code: { type: 'string', enum: CODES },
        message: { type: 'string' },
        details: FIELD_ERRORS,
      },
    },
  },
};
