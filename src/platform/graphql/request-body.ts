import { Kind, type OperationDefinitionNode, type TypeNode } from 'graphql';
import { AppError } from '../http/errors/errors.js';
import { MAX_ITEMS } from '../http/i-json.js';

/**
 * How many members and array elements a body may have while it is read, before its operation is known: those of any
 * other body, and those of the payload of an order, 64 KiB of JSON, which do not count.
 */
export const MAX_ITEMS_READ = MAX_ITEMS + 32 * 1024;

/**
 * Checks the parameters of a POST (GraphQL over HTTP, section 5.1) before Apollo Server.
 *
 * @throws AppError `MALFORMED_REQUEST`
 */
export function checkBody(body: unknown): void {
  if (Array.isArray(body)) throw malformed('Operations are not accepted in batches, send one at a time');
  if (!isMap(body)) throw malformed('The body must be a JSON object with the operation in "query"');
  const { query, operationName, variables, extensions } = body;
  if (extensions != null && !isMap(extensions)) throw malformed('"extensions" must be an object');
  const isPersisted = query == null && extensions?.['persistedQuery'] != null;
  if (typeof query !== 'string' && !isPersisted) throw malformed('"query" must be a string');
  if (operationName != null && typeof operationName !== 'string')
    throw malformed('"operationName" must be a string');
  if (variables != null && !isMap(variables)) throw malformed('"variables" must be an object');
  // Apollo treats an empty document as missing; in GraphQL it is a syntax error.
  if (query === '') body['query'] = ' ';
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Checks the size of an operation with its variables. Those of the type `JSON`, such as the payload of an order, have a
 * limit in bytes instead.
 *
 * @returns the error of one that is too large
 */
export function tooManyItems(
  body: object,
  { variableDefinitions = [] }: OperationDefinitionNode,
): AppError | undefined {
  const free = new Set(
    variableDefinitions
      .filter(({ type }) => nameOf(type) === 'JSON')
      .map(({ variable }) => variable.name.value),
  );
  const { variables, ...others } = body as Record<string, unknown>;
  let items = countItems(others) + ('variables' in body ? 1 : 0);
  for (const [name, value] of Object.entries(variables ?? {}))
    items += 1 + (free.has(name) ? 0 : countItems(value));
  if (items <= MAX_ITEMS) return undefined;
  return malformed(
    `The body has more than ${MAX_ITEMS} members and array elements, besides variables of the type JSON`,
  );
}

const nameOf = (type: TypeNode): string =>
  type.kind === Kind.NAMED_TYPE ? type.name.value : nameOf(type.type);

/** The members and array elements in a value of JSON, at all levels. */
function countItems(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let count = 0;
  for (const item of Object.values(value)) count += 1 + countItems(item);
  return count;
}

const malformed = (message: string) => new AppError('MALFORMED_REQUEST', message);
