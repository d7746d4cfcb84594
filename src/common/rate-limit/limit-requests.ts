import rateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit';
import { Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../../config/config.js';
import { AppError } from '../errors/errors.js';
import { clientOf, networkOf } from '../request/client.js';
import { connectRedis } from './connect-redis.js';

/** Clients that a process remembers; beyond that it forgets those that it has not seen for longest. */
const MAX_CLIENTS = 50_000;

type Limiter = (
  request: FastifyRequest,
) => Promise<{ remaining: number; seconds: number; isExceeded: boolean }>;

/**
 * Limits how many requests a client may send, an IPv4 address or an IPv6 /64, also those that no route serves; the
 * health checks are exempt. Every response says what is left (IETF draft `ratelimit-headers`). With Redis the limit
 * is that of all replicas together; while Redis is away, each process limits by itself.
 */
export async function limitRequests(
  fastify: FastifyInstance,
  { rateLimit: limit, redisUrl }: Pick<Config, 'rateLimit' | 'redisUrl'>,
): Promise<void> {
  if (limit === undefined) return;
  const { max, window } = limit;
  const logger = new Logger('RateLimit');
  const keyGenerator = (request: FastifyRequest) => networkOf(clientOf(request).address);
  const options = { global: false, max, timeWindow: window * 1000, keyGenerator };
  const alone = await createLimiter(fastify, { ...options, cache: MAX_CLIENTS });
  let limiter = alone;

  if (redisUrl !== undefined) {
    const redis = connectRedis(redisUrl, logger);
    fastify.addHook('onClose', async () => redis.disconnect());
    const shared = await createLimiter(fastify, { ...options, redis, nameSpace: 'posts-api:rate-limit:' });
    limiter = async (request) => {
      if (redis.status !== 'ready') return alone(request);
      return shared(request).catch(() => alone(request));
    };
  }

  fastify.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.url?.startsWith('/health')) return;
    const { remaining, seconds, isExceeded } = await limiter(request);
    reply.header('ratelimit-policy', `"default";q=${max};w=${window}`);
    reply.header('ratelimit', `"default";r=${remaining};t=${seconds}`);
    if (isExceeded) {
      throw new AppError(
        'RATE_LIMITED',
        `At most ${max} requests are accepted in ${window} seconds; please wait`,
        {
          headers: { 'retry-after': String(Math.max(1, seconds)) },
        },
      );
    }
  });
}

/** Each has a scope of its own, because the plugin decorates the instance that it is registered with. */
async function createLimiter(fastify: FastifyInstance, options: RateLimitPluginOptions): Promise<Limiter> {
  const { promise, resolve } = Promise.withResolvers<Limiter>();
  await fastify.register(async (scope) => {
    await scope.register(rateLimit, options);
    const limit = scope.createRateLimit();
    resolve(async (request) => {
      const result = await limit(request);
      if (result.isAllowed) throw new Error('Nobody is exempt from the rate limit');
      return { remaining: result.remaining, seconds: result.ttlInSeconds, isExceeded: result.isExceeded };
    });
  });
  return promise;
}
