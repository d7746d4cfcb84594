import rateLimit, { type RateLimitPluginOptions } from '@fastify/rate-limit';
import { Injectable, Logger } from '@nestjs/common';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import { SERVICE } from '../config/package.js';
import { Config } from '../config/config.js';
import { AppError } from './errors/errors.js';
import { networkOf } from './client.js';
import { isPreflight } from './methods.js';
import { RedisConnection } from './redis-connection.js';

/** The number of clients that a process counts; beyond that, it evicts the least recently seen client. */
const MAX_CLIENTS = 50_000;

type Counter = (
  request: FastifyRequest,
) => Promise<{ remaining: number; seconds: number; isExceeded: boolean }>;

/**
 * Limits the requests of each client (an IPv4 address or an IPv6 /64), also those without a route; probes and CORS
 * preflights are exempt. Every response has the rest of the limit (IETF draft
 * `ratelimit-headers`). With Redis the limit is that of all replicas together; without it, each process has its own.
 */
@Injectable()
export class RateLimiter {
  private counter: Counter | undefined;

  constructor(private readonly config: Config) {}

  /** Counts with the library, which belongs to a server. Without a limit, nothing is counted. */
  async start(fastify: FastifyInstance): Promise<void> {
    if (this.config.rateLimit === undefined) return;
    this.counter = await createCounter(fastify, this.config.rateLimit, this.config.redisUrl);
  }

  get isLimiting(): boolean {
    return this.counter !== undefined;
  }

  /**
   * Counts a request, or a message that counts as one.
   *
   * @param setHeaders sets the headers of the limit, for accepted and rejected requests
   * @throws AppError `RATE_LIMITED`
   */
  async check(
    request: FastifyRequest,
    setHeaders: (headers: Record<string, string>) => void = () => undefined,
  ): Promise<void> {
    const { rateLimit: limit } = this.config;
    if (!this.counter || !limit) return;
    const { max, window } = limit;
    const { remaining, seconds, isExceeded } = await this.counter(request);
    setHeaders({
      'ratelimit-policy': `"default";q=${max};w=${window}`,
      ratelimit: `"default";r=${remaining};t=${seconds}`,
    });
    if (!isExceeded) return;
    const message = `At most ${max} requests are accepted in ${window} seconds; retry later`;
    throw new AppError('RATE_LIMITED', message, {
      headers: { 'retry-after': String(Math.max(1, seconds)) },
    });
  }
}

/** Limits the requests of each client. */
export const limits = fastifyPlugin<{ limiter: RateLimiter }>(
  async (fastify, { limiter }) => {
    await limiter.start(fastify);
    if (!limiter.isLimiting) return;
    fastify.addHook('onRequest', async (request, reply) => {
      // A browser reports a rejected preflight as a network error: the page would never see the 429.
      if (isPreflight(request) || fastify.routes.has('forProbes', request)) return;
      await limiter.check(request, (headers) => void reply.headers(headers));
    });
  },
  // After CORS, so that browsers can read the error.
  { name: 'limits', dependencies: ['routes', 'cors'] },
);

async function createCounter(
  fastify: FastifyInstance,
  { max, window }: NonNullable<Config['rateLimit']>,
  redisUrl: string | undefined,
): Promise<Counter> {
  const keyGenerator = (request: FastifyRequest) => networkOf(request.context.client.address);
  const options = { global: false, max, timeWindow: window * 1000, keyGenerator };
  const local = oneByOne(await createOne(fastify, { ...options, cache: MAX_CLIENTS }));
  if (redisUrl === undefined) return local;
  const redis = new RedisConnection(redisUrl, new Logger('RateLimit'));
  fastify.addHook('onClose', async () => redis.disconnect());
  const nameSpace = `${SERVICE.name}:rate-limit:`;
  const shared = await createOne(fastify, { ...options, redis: redis.client, nameSpace });
  return (request) =>
    redis.run(
      () => shared(request),
      () => local(request),
    );
}

/**
 * The store in memory returns the object that it counts in: concurrent requests, such as messages in one
 * packet, would all see the count of the last one.
 */
function oneByOne(count: Counter): Counter {
  let last: Promise<unknown> = Promise.resolve();
  return (request) => {
    const next = last.then(() => count(request));
    last = next.catch(() => undefined);
    return next;
  };
}

/** Each gets its own scope, because the plugin decorates the instance that it is registered with. */
async function createOne(fastify: FastifyInstance, options: RateLimitPluginOptions): Promise<Counter> {
  const { promise, resolve } = Promise.withResolvers<Counter>();
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
