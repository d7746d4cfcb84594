import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { type ErrorCode, ERRORS } from '../../src/platform/http/errors/errors.js';
import { AMBIGUOUS } from '../../src/platform/http/edge/ambiguous-request.js';

export const reference = JSON.parse(readFileSync('public/openapi.json', 'utf8'));

export interface Operation {
  readonly method: string;
  /** The path in the OpenAPI document: `/v1/notes/{id}`. */
  readonly path: string;
  readonly operation: any;
}

export const operations: readonly Operation[] = Object.entries<any>(reference.paths).flatMap(([path, item]) =>
  Object.entries<any>(item).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
);

const OWN_TAGS = new Set(['Posts', 'Users', 'Orders', 'Events', 'Webhooks', 'Audit', 'Accounts', 'Health']);

/** Those of the service itself. Modules that a team adds may have other ids, headers and formats. */
export const ownOperations = operations.filter(({ operation }) => OWN_TAGS.has(operation.tags[0]));

/** The example bodies of a code: for `NOT_FOUND`, the examples `NOT_FOUND`, `NOT_FOUND_2` and so on. */
export function examplesOf({ operation }: Operation, code: ErrorCode): any[] {
  const examples = operation.responses[ERRORS[code].status]?.content?.['application/json']?.examples ?? {};
  return Object.entries<any>(examples)
    .filter(([name]) => name.replace(/_\d+$/, '') === code)
    .map(([, { value }]) => value);
}

// Paths without parameters come first, because `/v1/notes/cursor` also matches `/v1/notes/{id}`.
const routes = operations
  .map((operation) => ({
    ...operation,
    pattern: new RegExp(`^${operation.path.replace(/\/$/, '').replaceAll(/\{\w+\}/g, '[^/]+')}/?$`),
  }))
  .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length);

const isSamePath = (documented: string, path: string): boolean =>
  documented.replace(/\/$/, '') === path.replace(/\/$/, '');

/** Headers that a response may omit. */
const OPTIONAL_HEADERS = new Set(['Link', 'Idempotent-Replayed']);

/** Every path can respond with these: they are not about the operation. */
const OF_EVERY_PATH: ReadonlySet<string> = new Set(Object.values(AMBIGUOUS));

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
const { schemas } = reference.components;
const committed = { ...schemas };
// Modules of tests have further types of events.
const furtherEvent = {
  allOf: [{ $ref: '#/components/schemas/CloudEventEnvelope' }],
  properties: { type: { not: schemas.EventType } },
};
schemas.CloudEvent &&= { ...schemas.CloudEvent, oneOf: [...schemas.CloudEvent.oneOf, furtherEvent] };
for (const name of Object.keys(schemas)) {
  if (name.endsWith('EventType')) schemas[name] = { type: 'string', pattern: '^[a-z-]+\\.[a-z-]+$|^\\*$' };
}
ajv.addSchema(structuredClone(reference), 'reference');
Object.assign(schemas, committed);
const validators = new Map<string, ValidateFunction>();

interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: any;
}

/** Checks a response against the OpenAPI document, unless the path is undocumented. @throws Error if they differ */
export function checkAgainstReference(
  method: string,
  url: string,
  { status, headers, body }: Response,
): void {
  const path = url.replace(/[?#].*/s, '');
  const documentedMethod = method === 'HEAD' ? 'GET' : method;
  const found = routes.find((route) => route.method === documentedMethod && route.pattern.test(path));
  // A 405 is about a path without parameters that the pattern of an operation matches as well.
  if (!found || (status === 405 && operations.some((other) => isSamePath(other.path, path)))) return;

  const name = `${documentedMethod} ${found.path} ${status}`;
  if (status === 400 && OF_EVERY_PATH.has(body?.error?.message)) return;
  const response = found.operation.responses[status];
  if (!response) throw new Error(`${name} is not documented`);
  for (const header of Object.keys(response.headers ?? {})) {
    const isOptional = OPTIONAL_HEADERS.has(header) || (status === 409 && header === 'Retry-After');
    if (headers[header.toLowerCase()] === undefined && !isOptional)
      throw new Error(`${name} lacks ${header}`);
  }
  if (method === 'HEAD') return;
  if (!response.content) {
    if (body !== undefined) throw new Error(`${name} has an undocumented body`);
    return;
  }
  const type = String(headers['content-type']).split(';', 1)[0]!;
  const content = response.content[type];
  if (!content) throw new Error(`${name} is ${type}, which is not documented`);
  if (!type.endsWith('json')) return;

  const code = body?.error?.code;
  if (code && content.examples && !Object.hasOwn(content.examples, code))
    throw new Error(`${name} ${code} is not documented`);
  // Other codes have texts with values of the request.
  if (code === 'CONFLICT' && content.examples && !messagesOf(content).includes(body.error.message))
    throw new Error(`${name} has an undocumented message: ${body.error.message}`);
  const pointer = [
    'paths',
    found.path,
    documentedMethod.toLowerCase(),
    'responses',
    status,
    'content',
    type,
    'schema',
  ];
  const validate = validatorAt(`reference#/${pointer.map(escape).join('/')}`);
  if (content.example && !isDeepStrictEqual(body, content.example))
    throw new Error(`${name} is not its only example: ${JSON.stringify(body)}`);
  if (!validate(body))
    throw new Error(`${name} does not match its schema: ${ajv.errorsText(validate.errors)}`);
}

const messagesOf = ({ examples }: { examples: Record<string, any> }): string[] =>
  Object.values(examples).map(({ value }) => value.error.message);

function validatorAt(pointer: string): ValidateFunction {
  let validate = validators.get(pointer);
  if (!validate) validators.set(pointer, (validate = ajv.compile({ $ref: pointer })));
  return validate;
}

const escape = (part: string | number): string =>
  encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'));
