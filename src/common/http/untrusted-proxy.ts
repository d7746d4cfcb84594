import proxyAddr from '@fastify/proxy-addr';
import { Logger } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config/config.js';

/**
 * Warns once, in production, about an `X-Forwarded-For` that does not count. If a proxy sends it, all its clients share
 * one address: 300 wrong passwords of one of them lock out everybody.
 */
export function warnOfUntrustedProxy(fastify: FastifyInstance, { production, trustedProxies }: Config): void {
  if (!production) return;
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
