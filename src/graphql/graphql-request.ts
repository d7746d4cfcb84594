import { AppError } from '../common/errors/errors.js';

/** The parameters of a request (GraphQL over HTTP, section 5.1), `extensions` aside, which means nothing here. */
export interface GraphqlRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>> | undefined;
}

/** @throws AppError `MALFORMED_REQUEST` when the body is not a well-formed request */
export function readGraphqlRequest(body: unknown): GraphqlRequest {
  if (Array.isArray(body)) throw malformed('Operations are not taken in batches, send one at a time');
  if (!isMap(body)) throw malformed('The body must be a JSON object with the operation in "query"');
  const { query, operationName, variables, extensions } = body;
  if (typeof query !== 'string') throw malformed('"query" must be a string');
  if (operationName != null && typeof operationName !== 'string')
    throw malformed('"operationName" must be a string');
  if (variables != null && !isMap(variables)) throw malformed('"variables" must be an object');
  if (extensions != null && !isMap(extensions)) throw malformed('"extensions" must be an object');
  return { query, operationName: operationName ?? undefined, variables: variables ?? undefined };
}

const isMap = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const malformed = (message: string) => new AppError('MALFORMED_REQUEST', message);
