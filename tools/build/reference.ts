import { readFileSync } from 'node:fs';
import scalar from '@scalar/fastify-api-reference';
import fastify from 'fastify';

type Json = Record<string, any>;

/** On an operation: whether credentials are required or optional unless `WRITE_ACCESS` is `open`. */
const UNLESS_OPEN = 'x-credentials-unless-open';

/** The committed reference as the service sends it, by file: for each mode, without indentation. */
export function servedReferences(): Map<string, Buffer> {
  const committed = readFileSync('public/openapi.json', 'utf8');
  return new Map(
    (['open', 'accounts'] as const).map((mode) => [
      `${mode}/openapi.json`,
      Buffer.from(JSON.stringify(forMode(JSON.parse(committed), mode))),
    ]),
  );
}

/**
 * The document as it holds in a mode. While `WRITE_ACCESS` is `open`, operations that depend on the setting look at no
 * credentials.
 */
function forMode(document: Json, mode: 'open' | 'accounts'): Json {
  for (const item of Object.values<Json>(document['paths'])) {
    for (const operation of Object.values<Json>(item)) {
      const { [UNLESS_OPEN]: credentials, security } = operation;
      delete operation[UNLESS_OPEN];
      if (credentials === undefined) continue;
      if (mode === 'open') operation['security'] = [];
      else if (credentials === 'required')
        operation['security'] = security.filter((way: object) => Object.keys(way).length > 0);
    }
  }
  return document;
}

/** The script that shows the reference, from the plugin that contains it with everything that it needs. */
export async function scalarScript(): Promise<Buffer> {
  const server = fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { statusCode, rawPayload } = await server.inject('/docs/js/scalar.js');
  await server.close();
  if (statusCode !== 200) throw new Error('@scalar/fastify-api-reference has no /js/scalar.js');
  return rawPayload;
}
