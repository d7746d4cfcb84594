import rateLimit from '@fastify/rate-limit';
import { Logger } from '@nestjs/common';
import fastifyPlugin from 'fastify-plugin';
import { Redis } from 'ioredis';
import type { Config } from '../config/config.js';
import { SERVICE } from '../config/package.js';
import { networkOf } from './client.js';
import { AppError } from './errors/errors.js';
import { isPreflight } from './methods.js';

/** The number of clients that a process counts; beyond that, it forgets the least recently seen client. */
const MAX_CLIENTS = 50_000;

/**
 * Limits the requests of each client with `RATE_LIMIT`, also those without a route: 429, and the headers of the limit on
 * every response. Probes and CORS preflights do not count. The limit is that of a process, or with `REDIS_URL` that of
 * all replicas; while Redis is away, requests pass.
 */
export const limits = fastifyPlugin<{ config: Config }>(
  async (fastify, { config: { rateLimit: limit, redisUrl } }) => {
    if (!limit) return;
    const { max, window } = limit;
    const redis = redisUrl === undefined ? undefined : connect(redisUrl);
    fastify.addHook('onClose', async () => redis?.disconnect());
    await fastify.register(rateLimit, {
      // The hook below counts, because the hooks of routes would run after those that reject unknown paths.
      global: false,
      max,
      timeWindow: window * 1000,
      enableDraftSpec: true,
      keyGenerator: ({ context }) => networkOf(context.client.address),
      // A browser reports a rejected preflight as a network error: the page would never see the 429.
      allowList: (request) => isPreflight(request) || fastify.routes.has('forProbes', request),
      errorResponseBuilder: () =>
        new AppError(
          'RATE_LIMITED',
          `At most ${max} requests are accepted in ${window} seconds; retry later`,
        ),
      cache: MAX_CLIENTS,
      redis,
      nameSpace: `${SERVICE.name}:rate-limit:`,
      skipOnError: true,
    });
    fastify.addHook('onRequest', fastify.rateLimit());
  },
  // After CORS, so that browsers can read the error.
  { name: 'limits', dependencies: ['routes', 'cors'] },
);

/** Connects in the background, again and again, and logs once that Redis is away and once that it is back. */
function connect(url: string): Redis {
  const logger = new Logger('RateLimit');
  let isAway = false;
  const markAway = (error: Error): void => {
    // As text: the error of a rejected login has the password as a field.
    if (!isAway) logger.warn(`Redis is away: requests pass without a limit (${String(error)})`);
    isAway = true;
  };
  const redis = new Redis(url, {
    connectTimeout: 1000,
    // Closes a connection on which Redis stalls: only the requests until then wait, this number of milliseconds.
    socketTimeout: 1000,
    // While there is no connection, a command fails at once.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    // Longer than `socketTimeout`, whose timer could otherwise close the next connection.
    retryStrategy: () => 1500,
    // Such as READONLY after a failover: the plugin lets the request pass, and says nothing.
    reconnectOnError: (error) => {
      markAway(error);
      return error.message.startsWith('READONLY');
    },
  });
  redis.on('error', markAway);
  redis.on('ready', () => {
    if (isAway) logger.log('Redis is back: all replicas share the limit');
    isAway = false;
  });
  return redis;
}
