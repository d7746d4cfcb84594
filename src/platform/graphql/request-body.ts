import { AppError } from '../http/errors/errors.js';

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

const malformed = (message: string) => new AppError('MALFORMED_REQUEST', message);
