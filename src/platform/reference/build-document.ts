import { STATUS_CODES } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import type { INestApplication, Type } from '@nestjs/common';
import { type DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { ERRORS } from '../http/errors/errors.js';
import type { Success } from '../http/openapi/returns.js';
import { EventTypes } from '../changes/index.js';
import {
  ERROR_RESPONSE,
  EXAMPLES,
  HEADERS,
  idParameter,
  IF_MATCH,
  IF_NONE_MATCH,
  keyParameter,
  NOT_MODIFIED,
  parameterExample,
} from './components.js';
import { guideOf } from './guides.js';
import { findHandlers, type Handler, handlerKey, operationId } from './handlers.js';
import { type DeclaredError, errorsOf } from './declared-errors.js';
import { securityMembers } from './security.js';

const BEARER = 'An API key, or the `access` token of `POST /auth/login/`, which is valid for 30 minutes.';

const ERRORS_OF_ALL =
  'Errors have a code: [all codes, and what to do](/guides/errors). Each operation may return `RATE_LIMITED` (429, not below `/health`), `INTERNAL_ERROR` (500) and `SERVICE_UNAVAILABLE` (503).';

type Json = Record<string, any>;

/** Adds something to the document of all handlers. */
export type ReferencePart = (document: Json, types: EventTypes) => void;

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/**
 * Builds the reference of the REST API as OpenAPI 3.1 from the controllers, and adds what is common to all.
 *
 * @param base what the API says about itself: title, tags, security schemes of its own
 * @param parts what modules add besides their handlers
 */
export async function buildDocument(
  app: INestApplication,
  base: DocumentBuilder,
  parts: readonly ReferencePart[],
): Promise<OpenAPIObject> {
  const config = base
    .setOpenAPIVersion('3.1.0')
    .addServer('/')
    .addCookieAuth('session', { type: 'apiKey', in: 'cookie' }, 'session')
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-CSRF-Token' }, 'csrf')
    .addBearerAuth({ type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: BEARER }, 'bearer')
    .build();
  config.info.description += `\n\n${ERRORS_OF_ALL}`;
  const handlers = findHandlers(app);
  const byOperation = new Map<string, Handler>();
  const types = app.get(EventTypes, { strict: false });
  const document = SwaggerModule.createDocument(app, config, {
    operationIdFactory: (controller, method, version) => {
      const id = operationId(controller, method, version);
      const handler = handlers.get(handlerKey(controller, method))!;
      byOperation.set(handler.operationId ?? id, handler);
      return id;
    },
    extraModels: types.views,
  }) as Json;
  const schemas = ((document['components'] ??= {}).schemas ??= {}) as Json;

  document['paths'] = Object.fromEntries(
    Object.entries(document['paths'] as Json).map(([path, item]) => [documentedPath(path), item]),
  );
  for (const [path, item] of Object.entries(document['paths'] as Json)) {
    for (const method of METHODS.filter((name) => name in item)) {
      const operation = item[method] as Json;
      const handler = byOperation.get(operation['operationId'])!;
      await complete(operation, { path, method }, handler);
      const { success, otherError } = handler;
      requireSchemes(operation, document['components'].securitySchemes);
      addSchemas(schemas, { ...success?.named, ...(otherError && { [otherError.name]: otherError.schema }) });
    }
  }
  addSchemas(schemas, { ErrorResponse: ERROR_RESPONSE });
  for (const describe of parts) describe(document, types);
  addTags(document);
  for (const { properties = {} } of Object.values<Json>(schemas)) {
    for (const [name, schema] of Object.entries<Json>(properties)) {
      addExample(name, schema);
      // Nest writes the reference to an enum as the only schema of an `allOf`.
      if (schema['allOf']?.length === 1) properties[name] = schema['allOf'][0];
    }
  }
  const text = JSON.stringify(document);
  // Such as `ETag`, in a service without entity tags.
  document['components'].headers = Object.fromEntries(
    Object.entries(HEADERS).filter(([name]) => text.includes(`"#/components/headers/${name}"`)),
  );
  return document as OpenAPIObject;
}

/** @throws Error when an operation names a security scheme that nothing declares, as a misspelt one */
function requireSchemes(operation: Json, schemes: Json): void {
  const named = operation['security'].flatMap((way: object) => Object.keys(way));
  const unknown = named.find((name: string) => !schemes[name]);
  if (unknown !== undefined)
    throw new Error(
      `The security scheme "${unknown}" of ${operation['operationId']} is unknown: add it to src/openapi.ts, by .addApiKey() or the like`,
    );
}

/** @throws Error when another schema has the name: generated clients would have the wrong type */
function addSchemas(schemas: Json, named: Json): void {
  for (const [name, schema] of Object.entries(named)) {
    if (name in schemas && !isDeepStrictEqual(schemas[name], schema))
      throw new Error(`Two schemas of the reference are named ${name}: give yours another name`);
    schemas[name] = structuredClone(schema);
  }
}

/** Modules of a team have tags that the list above does not know. */
function addTags(document: Json): void {
  const described = new Set(document['tags'].map(({ name }: Json) => name));
  const used = Object.values<Json>(document['paths']).flatMap((item) =>
    METHODS.flatMap((method) => (item[method]?.['tags'] ?? []) as string[]),
  );
  for (const name of new Set(used))
    if (!described.has(name)) document['tags'].push({ name, description: name });
}

/** Otherwise pages that show the reference would send `"string"`. */
function addExample(name: string, schema: Json): void {
  const isText = [schema['type']].flat().includes('string') && !schema['enum'] && !schema['format'];
  if (isText && !('example' in schema || 'examples' in schema || 'const' in schema) && name in EXAMPLES) {
    schema['example'] = EXAMPLES[name];
  }
}

/** Account paths are documented with a trailing slash; all paths work with and without one. */
const documentedPath = (path: string): string => (path.startsWith('/auth/') ? `${path}/` : path);

async function complete(
  operation: Json,
  { path, method }: { path: string; method: string },
  handler: Handler,
): Promise<void> {
  const guide = guideOf(path);
  if (guide !== undefined)
    operation['description'] = [operation['description'], guide].filter(Boolean).join('\n\n');
  for (const { in: place, name, schema } of operation['parameters'] ?? []) {
    if (place === 'path') addExample(name, schema);
  }
  const parameters: Json[] = operation['parameters'] ?? [];
  const declared = new Set(parameters.map((each) => String(each['name']).toLowerCase()));
  // Parameters that no handler declares are read by `@Id()`.
  const ids = [...path.matchAll(/\{(\w+)\}/g)]
    .map(([, name]) => name!)
    .filter((name) => !declared.has(name.toLowerCase()));
  const ofHandler = [
    handler.idempotencyKey !== 'none' && keyParameter(handler.idempotencyKey === 'required'),
    handler.hasPrecondition && IF_MATCH,
    handler.hasTag && method === 'get' && IF_NONE_MATCH,
  ].filter((each) => typeof each === 'object' && !declared.has(each['name'].toLowerCase()));
  const all = [...ids.map(idParameter), ...parameters, ...ofHandler];
  if (all.length > 0) {
    operation['parameters'] = (all as Json[]).map((each) => {
      const example = 'example' in each || 'examples' in each ? undefined : parameterExample(each);
      return { ...each, ...(example !== undefined && { example }) };
    });
  }
  const body = operation['requestBody'] as Json | undefined;
  const input = inputOf(handler, body);
  Object.assign(operation, securityMembers(handler, method, operation['security']));
  if (input) body!['required'] ??= true;

  const own = successesOf(handler, operation['responses']);
  if (handler.hasTag && method === 'get') own[304] = NOT_MODIFIED;
  const byStatus = Object.groupBy(
    await errorsOf(handler, {
      method,
      hasBody: body !== undefined,
      input,
      parameters: parameters
        .filter((each) => each['in'] === 'query' || each['in'] === 'path')
        .map((each) => each['name']),
      hasId: ids.length > 0,
      isLimited: !path.startsWith('/health'),
    }),
    ({ code }) => ERRORS[code].status,
  );
  for (const [code, errors] of Object.entries(byStatus)) {
    own[code] = withHeaders(errorResponse(errors, handler, Number(code)), Number(code));
  }
  operation['responses'] = withWritten(own, operation['responses']);
}

/**
 * The success and the redirect of a handler: those of our decorators, or one without a body unless Nest's decorators
 * have another.
 *
 * @param written what Nest's decorators say; without any, Nest's Swagger module writes an empty response
 */
function successesOf(handler: Handler, written: Json): Json {
  const { success, redirection, status } = handler;
  if (isEmpty(written[status])) delete written[status];
  const isWritten = Object.keys(written).some((key) => /^[23]|default/.test(key));
  const response = {
    description: success?.description ?? 'Success',
    ...(success && { content: contentOf(success) }),
  };
  const isOwn = success !== undefined || written[status] !== undefined;
  return {
    ...((isOwn || (redirection === undefined && !isWritten)) && {
      [status]: withHeaders(response, status, handler),
    }),
    ...(redirection !== undefined && { 302: withHeaders({ description: redirection }, 302) }),
  };
}

const isEmpty = (response: Json | undefined): boolean => isDeepStrictEqual(response, { description: '' });

/** Adds what Nest's decorators say (`@ApiOkResponse()` and the like), which takes precedence. */
function withWritten(own: Json, written: Json): Json {
  const merged = Object.entries(written).map(([status, { description, content, headers, ...others }]) => {
    const { description: usual, ...derived } =
      own[status] ??
      withHeaders(
        {
          description: STATUS_CODES[status] ?? status,
          ...(/^[45]/.test(status) && { content: ERROR_CONTENT }),
        },
        Number(status),
      );
    return [
      status,
      {
        description: description || usual,
        ...derived,
        ...others,
        ...((content ?? derived.content) && { content: { ...derived.content, ...content } }),
        headers: { ...derived.headers, ...headers },
      },
    ];
  });
  return { ...own, ...Object.fromEntries(merged) };
}

const contentOf = ({ schema, types, example }: Success): Json =>
  Object.fromEntries(types.map((type) => [type, { schema, ...(example !== undefined && { example }) }]));

/** The class of a body: the parameter that the schema is named after. */
function inputOf({ parameters, input }: Handler, body: Json | undefined): Type | undefined {
  const schema: string = body?.['content']?.['application/json']?.schema?.$ref ?? '';
  return input ?? parameters.find(({ name }) => schema === `#/components/schemas/${name}`);
}

const ERROR_CONTENT = { 'application/json': { schema: { $ref: '#/components/schemas/ErrorResponse' } } };

function errorResponse(declared: readonly DeclaredError[], { otherError }: Handler, status: number): Json {
  const { schema } = ERROR_CONTENT['application/json'];
  const other = otherError?.status === status && { $ref: `#/components/schemas/${otherError.name}` };
  const byCode = Object.entries(Object.groupBy(declared, ({ code }) => code));
  // The first message of a code has its name; further ones are `NOT_FOUND_2` and so on.
  const examples = byCode.flatMap(([code, ofCode]) =>
    ofCode.map((error, n) => [n === 0 ? code : `${code}_${n + 1}`, { value: { error } }] as const),
  );
  return {
    description: byCode.map(([code]) => `\`${code}\``).join(', '),
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
  const names = [
    'X-Request-ID',
    // Our decorators are for handlers that return `created()`.
    ((status === 201 && handler?.success) || status === 302) && 'Location',
    handler?.hasTag && 'ETag',
    handler?.hasTag && 'Cache-Control',
    handler?.success?.hasLinks && 'Link',
    handler !== undefined && handler.idempotencyKey !== 'none' && 'Idempotent-Replayed',
    status === 401 && 'WWW-Authenticate',
    (status === 429 || status === 503 || text.includes('IDEMPOTENCY_KEY_IN_USE')) && 'Retry-After',
  ].filter((name) => typeof name === 'string');
  const headers = Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
  return { ...response, headers: { ...headers, ...response['headers'] } };
}
