import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** What browsers load; beside `src` as it is beside `dist`. */
const PUBLIC = fileURLToPath(new URL('../../../public', import.meta.url));

/** A page and its parts come from this service, and it talks to nobody else. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  'font-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * A page of a folder below `public/`, and the files that it loads.
 *
 * @param prefix the path below which the files are served
 * @returns what sends the page itself
 */
export function servePage(
  fastify: FastifyInstance,
  folder: string,
  prefix: string,
): (reply: FastifyReply) => FastifyReply {
  const page = readFileSync(`${PUBLIC}/${folder}/index.html`, 'utf8');
  void fastify.register(fastifyStatic, {
    root: `${PUBLIC}/${folder}`,
    prefix,
    decorateReply: false,
    // One route for each file, so that all else is an unknown path like any other.
    wildcard: false,
    index: false,
    maxAge: '1h',
  });
  return (reply) =>
    reply.header('content-security-policy', POLICY).type('text/html; charset=utf-8').send(page);
}

/** The text of a file below `public/`. */
export const readPublic = (file: string): string => readFileSync(`${PUBLIC}/${file}`, 'utf8');
