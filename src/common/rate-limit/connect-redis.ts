import type { LoggerService } from '@nestjs/common';
import { Redis } from 'ioredis';

/** Milliseconds. No request waits for a Redis that is slow or away. */
const CONNECT_TIMEOUT = 1000;
const COMMAND_TIMEOUT = 250;
const RETRY_DELAY = 500;

/** Connects in the background, again and again, and logs when Redis goes away and comes back. */
export function connectRedis(url: string, logger: Pick<LoggerService, 'log' | 'warn'>): Redis {
  let isAway = false;
  const redis = new Redis(url, {
    connectTimeout: CONNECT_TIMEOUT,
    commandTimeout: COMMAND_TIMEOUT,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => RETRY_DELAY,
  });
  redis.on('ready', () => {
    if (isAway) logger.log('Redis is back: the limit is shared by all replicas again');
    isAway = false;
  });
  const away = (error?: Error) => {
    if (!isAway)
      logger.warn(`Redis is away: this process limits requests by itself (${error?.message ?? 'closed'})`);
    isAway = true;
  };
  redis.on('error', away);
  redis.on('close', () => away());
  return redis;
}
