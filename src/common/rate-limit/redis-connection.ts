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
  private isAway = false;
  private askAgainAt = 0;

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
    this.client.on('ready', () => this.noteBack());
    this.client.on('error', (error) => this.noteAway(error.message));
    this.client.on('close', () => this.noteAway('closed'));
  }

  /** @param otherwise runs instead while Redis is unavailable, does not respond, or fails */
  async ask<T>(command: () => Promise<T>, otherwise: () => Promise<T>): Promise<T> {
    const { isAway } = this;
    if (this.client.status !== 'ready' || (isAway && performance.now() < this.askAgainAt)) return otherwise();
    // Of the concurrent requests, only this one tries whether Redis is available again.
    if (isAway) this.pause();
    try {
      const result = await command();
      if (isAway) this.noteBack();
      return result;
    } catch (error) {
      this.pause();
      this.noteAway(error instanceof Error ? error.message : String(error));
      return otherwise();
    }
  }

  disconnect(): void {
    this.client.disconnect();
  }

  private pause(): void {
    this.askAgainAt = performance.now() + PAUSE;
  }

  private noteAway(reason: string): void {
    if (!this.isAway)
      this.logger.warn(`Redis is unavailable: this process limits requests on its own (${reason})`);
    this.isAway = true;
  }

  private noteBack(): void {
    if (this.isAway) this.logger.log('Redis is available again: all replicas share the limit');
    this.isAway = false;
  }
}
