import type { IncomingMessage, ServerResponse } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import { Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Config } from '../../config/config.js';
import { AppError } from '../errors/errors.js';
import { canonizeForwardedFor } from '../forwarded-for.js';
import { ambiguityOf } from './ambiguous-request.js';

/** What Node.js itself would respond to, and what is known of the proxies in front. */
export const hardening = fastifyPlugin<{ config: Config }>(
  (fastify, { config }, done) => {
    // Node would refuse expectations other than 100-continue, which may be ignored (RFC 9110, section 10.1.1).
    fastify.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
      fastify.server.emit('request', request, response);
    });
    if (config.trustedProxies.length > 0) {
      // Before any step reads the address of the client.
      fastify.addHook('onRequest', ({ raw }, _reply, next) => {
        canonizeForwardedFor(raw);
        next();
      });
    }
    if (config.production) warnOfUntrustedProxy(fastify, config);
    done();
  },
  { name: 'hardening' },
);

/**
 * Warns once, in production, about an `X-Forwarded-For` that does not count. If a proxy sends it, all its clients share
 * one address: 300 wrong passwords of one of them lock out everybody.
 */
function warnOfUntrustedProxy(fastify: FastifyInstance, { trustedProxies }: Config): void {
  const isTrusted = proxyAddr.compile([...trustedProxies]);
  let hasWarned = false;
  fastify.addHook('onRequest', ({ headers, socket }, _reply, done) => {
    const peer = socket.remoteAddress;
    if (!hasWarned && headers['x-forwarded-for'] !== undefined && peer !== undefined && !isTrusted(peer, 0)) {
      hasWarned = true;
      new Logger('TrustedProxies').warn({ msg: WARNING, peer });
    }
    done();
  });
}

const WARNING =
  'X-Forwarded-For is ignored, because TRUST_PROXY does not include the peer that sent it. ' +
  'If the peer is your proxy, add its address to TRUST_PROXY: otherwise all its clients count as one.';

/** Rejects requests that a proxy in front might have parsed differently. */
export const ambiguousRequests = fastifyPlugin(
  (fastify, _options, done) => {
    fastify.addHook('onRequest', (request, reply, next) => {
      const ambiguity = ambiguityOf(request.raw);
      if (ambiguity === undefined) {
        next();
        return;
      }
      // The bytes that follow on this connection may not be a request.
      reply.header('connection', 'close');
      next(new AppError('MALFORMED_REQUEST', ambiguity));
    });
    done();
  },
  // After CORS, so that browsers can read the error, and after the limits, which count these requests, too.
  { name: 'ambiguous requests', dependencies: ['cors', 'limits'] },
);
