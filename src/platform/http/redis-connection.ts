import type { LoggerService } from '@nestjs/common';
import { Redis } from 'ioredis';

/** Milliseconds. No request waits for a Redis that is slow or unavailable. */
const CONNECT_TIMEOUT = 1000;
const COMMAND_TIMEOUT = 250;
const RETRY_DELAY = 500;

/** How long Redis is not used after a failed command, in milliseconds. */
const PAUSE = 5000;

/** Connects in the background, repeatedly, and logs when Redis becomes unavailable and available. */
export class RedisConnection {
  readonly client: Redis;
  private isUnavailable = false;
  private retryAt = 0;

  constructor(
    url: string,
    private readonly logger: Pick<LoggerService, 'log' | 'warn'>,
  ) {
    this.client = new Redis(url, {
      connectTimeout: CONNECT_TIMEOUT,
      commandTimeout: COMMAND_TIMEOUT,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      retryStrategy: () => RETRY_DELAY,
    });
    this.client.on('ready', () => this.markAvailable());
    this.client.on('error', (error) => this.markUnavailable(error.message));
    this.client.on('close', () => this.markUnavailable('closed'));
  }

  /** @param otherwise runs instead while Redis is unavailable, does not respond, or fails */
  async run<T>(command: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    const { isUnavailable } = this;
    if (this.client.status !== 'ready' || (isUnavailable && performance.now() < this.retryAt))
      return otherwise();
    // Of the concurrent requests, only this one tries whether Redis is available again.
    if (isUnavailable) this.pause();
    try {
      const result = await command();
      if (isUnavailable) this.markAvailable();
      return result;
    } catch (error) {
      this.pause();
      this.markUnavailable(error instanceof Error ? error.message : String(error));
      return otherwise();
    }
  }

  disconnect(): void {
    this.client.disconnect();
  }

  private pause(): void {
    this.retryAt = performance.now() + PAUSE;
  }

  private markUnavailable(reason: string): void {
    if (!this.isUnavailable)
      this.logger.warn(`Redis is unavailable: this process limits requests on its own (${reason})`);
    this.isUnavailable = true;
  }

  private markAvailable(): void {
    if (this.isUnavailable) this.logger.log('Redis is available again: all replicas share the limit');
    this.isUnavailable = false;
  }
}
