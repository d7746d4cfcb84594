import { readFileSync } from 'node:fs';
import type { INestApplication, Type } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ERRORS, type ErrorCode } from '../common/errors/errors.js';
import type { Success } from '../common/openapi/answers.js';
import { findHandlers, type Handler, operationId } from './handlers.js';
import { type Refusal, refusalsOf, securityOf } from './refusals.js';

type Json = Record<string, any>;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * The reference of the REST API as OpenAPI 3.1, made from the controllers and completed by what holds for all.
 * It reads `docs/errors.md`, so it is for the checkout, not for the service.
 */
export async function buildDocument(app: INestApplication): Promise<OpenAPIObject> {
  const base = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Posts API')
    .setDescription(describe(readFileSync('docs/errors.md', 'utf8')))
    .setVersion('1')
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .addServer('/')
    .addTag('Posts', 'Texts, found by page, by cursor and by words')
    .addTag('Users', 'Public profiles, in two versions')
    .addTag('Orders', 'Made once for each key')
    .addTag('Accounts', 'Who one is: accounts, tokens, sessions and social login')
    .addTag('Health', 'For load balancers and orchestrators')
    .addCookieAuth('session', { type: 'apiKey', in: 'cookie' }, 'session')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-CSRF-Token' }, 'csrf')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT' }, 'bearer')
    .build();
  const document = SwaggerModule.createDocument(app, base, { operationIdFactory: operationId }) as Json;
  const handlers = findHandlers(app);

  document['paths'] = Object.fromEntries(
    Object.entries(document['paths'] as Json).map(([path, item]) => [documentedPath(path), item]),
  );
  for (const [path, item] of Object.entries(document['paths'] as Json)) {
    for (const method of METHODS.filter((name) => name in item)) {
      const operation = item[method] as Json;
      await complete(
        operation,
        { path, method },
        handlers.get(operation['operationId'].replace(/_v\d+$/, ''))!,
      );
    }
  }
  Object.assign((document['components'] ??= {}), { headers: HEADERS });
  Object.assign((document['components'].schemas ??= {}), { Error: ERROR });
  return document as OpenAPIObject;
}

/** @param errors the page of errors, which opens when one wants to see it */
const describe = (errors: string): string => `\
Posts, users and orders, and accounts to log in with. GraphQL is at \`/graphql\`.

<details><summary>Errors: every code, when it comes, and what to do</summary>

${errors.replace(/^# .*\n+/, '')}
</details>`;

/** A token, or a session cookie with its CSRF token. */
const CREDENTIALS = [{ bearer: [] }, { session: [], csrf: [] }];

/** Account paths are written with the slash at their end; all paths answer with and without. */
const documentedPath = (path: string): string => (path.startsWith('/auth/') ? `${path}/` : path);

async function complete(
  operation: Json,
  { path, method }: { path: string; method: string },
  handler: Handler,
): Promise<void> {
  const declared = new Set((operation['parameters'] ?? []).map(({ name }: Json) => name));
  // What no handler has declared is read by `@Id()`.
  const ids = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!).filter((name) => !declared.has(name));
  if (ids.length > 0) operation['parameters'] = [...ids.map(idParameter), ...(operation['parameters'] ?? [])];
  if (handler.idempotencyKey !== 'none') {
    (operation['parameters'] ??= []).push(keyParameter(handler.idempotencyKey === 'required'));
  }
  const body = operation['requestBody'] as Json | undefined;
  const input = inputOf(handler, body);
  const security = securityOf(handler, { method });
  operation['security'] =
    security === 'none' ? [] : security === 'required' ? CREDENTIALS : [{}, ...CREDENTIALS];
  if (input) body!['required'] = true;

  // What Nest's Swagger module finds by the method and `@HttpCode()`.
  const [status] = Object.keys(operation['responses'] as Json).map(Number) as [number];
  operation['responses'] = successesOf(handler, status);
  const byStatus = Object.groupBy(
    await refusalsOf(handler, { method, hasBody: body !== undefined, input, hasId: ids.length > 0 }),
    ({ code }) => ERRORS[code].status,
  );
  for (const [code, refusals] of Object.entries(byStatus)) {
    operation['responses'][code] = withHeaders(
      refusalResponse(refusals, handler, Number(code)),
      Number(code),
    );
  }
}

function successesOf(handler: Handler, status: number): Json {
  const { success, redirection } = handler;
  const response = { description: 'Success', ...(success && { content: contentOf(success) }) };
  return {
    ...((success ?? redirection === undefined) && { [status]: withHeaders(response, status, handler) }),
    ...(redirection !== undefined && { 302: withHeaders({ description: redirection }, 302) }),
  };
}

const contentOf = ({ schema, types }: Success): Json =>
  Object.fromEntries(types.map((type) => [type, { schema }]));

/** The class of a body: the parameter that the schema is named after. */
function inputOf({ parameters }: Handler, body: Json | undefined): Type | undefined {
  const schema: string = body?.['content']?.['application/json']?.schema?.$ref ?? '';
  return parameters.find(({ name }) => schema === `#/components/schemas/${name}`);
}

function refusalResponse(refusals: readonly Refusal[], { otherError }: Handler, status: number): Json {
  const schema = { $ref: '#/components/schemas/Error' };
  const other = otherError?.status === status ? otherError.schema : undefined;
  const examples = refusals.map(
    ({ code, ...error }) => [code, { value: { error: { code, ...error } } }] as const,
  );
  return {
    description: refusals.map(({ code }) => `\`${code}\``).join(', '),
    content: {
      'application/json': {
        schema: other ? { anyOf: [other, schema] } : schema,
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function withHeaders(response: Json, status: number, handler?: Handler): Json {
  const text = JSON.stringify(response);
  const isPage = text.includes('"has_next"') || text.includes('PageMeta');
  const names = [
    'X-Request-ID',
    (status === 201 || status === 302) && 'Location',
    isPage && 'Link',
    handler !== undefined && handler.idempotencyKey !== 'none' && 'Idempotent-Replayed',
    status === 401 && 'WWW-Authenticate',
    (status === 429 || status === 503 || text.includes('IDEMPOTENCY_KEY_IN_USE')) && 'Retry-After',
  ].filter((name) => name !== false);
  const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  return { ...response, headers: { ...headers, ...response['headers'] } };
}

const idParameter = (name: string): Json => ({
  name,
  in: 'path',
  required: true,
  description: 'A decimal integer of 64 bits.',
  schema: { type: 'integer', format: 'int64', examples: [1] },
});

const keyParameter = (required: boolean): Json => ({
  name: 'Idempotency-Key',
  in: 'header',
  required,
  description: 'Makes the request safe to repeat for 24 hours: 1 to 255 visible ASCII characters.',
  schema: { type: 'string', maxLength: 255, examples: ['2f1c5f0a-6a53-4d7e-9d4e-6f1f0c6f6c1b'] },
});

const header = (description: string, schema: Json): Json => ({ description, schema });

const HEADERS: Json = {
  'X-Request-ID': header('Fresh for every answer.', { type: 'string', format: 'uuid' }),
  Location: header('The path of what was made.', { type: 'string' }),
  Link: header('The way to other pages (RFC 8288).', { type: 'string' }),
  'Idempotent-Replayed': header('Only on an answer that was given before.', {
    type: 'string',
    const: 'true',
  }),
  'WWW-Authenticate': header('How to authenticate (RFC 9110).', { type: 'string', const: 'Bearer' }),
  'Retry-After': header('Seconds after which to come back.', { type: 'string', pattern: '^\\d+$' }),
};

const CODES = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => code !== 'QUERY_TOO_COMPLEX');

const ERROR: Json = {
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
        details: {
          type: 'array',
          description: 'The fields that are to blame; absent where none is.',
          minItems: 1,
          items: {
            type: 'object',
            required: ['field', 'message'],
            additionalProperties: false,
            properties: { field: { type: 'string' }, message: { type: 'string' } },
          },
        },
      },
    },
  },
};
