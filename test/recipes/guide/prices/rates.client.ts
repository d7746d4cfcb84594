import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { AppError } from '../../../../src/platform/http/errors/errors.js';

/** In milliseconds: of each attempt, and before the second and the third. */
const TIMEOUT = 1000;
const DELAYS = [100, 300];

/** A client of another service, which may be slow or unavailable. */
@Injectable()
export class RatesClient {
  constructor(private readonly baseUrl: string) {}

  get hasAddress(): boolean {
    return this.baseUrl !== '';
  }

  /** @throws AppError `SERVICE_UNAVAILABLE` when three attempts have failed */
  async rate(currency: string): Promise<number> {
    const url = `${this.baseUrl}/rates/${encodeURIComponent(currency)}`;
    for (let attempt = 0; ; attempt++) {
      try {
        const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT), redirect: 'error' });
        if (!response.ok) throw new Error(`${url} responded with ${response.status}`);
        const { rate } = (await response.json()) as { rate?: unknown };
        if (typeof rate !== 'number') throw new Error(`${url} responded without a rate`);
        return rate;
      } catch (cause) {
        const delay = DELAYS[attempt];
        if (delay === undefined) {
          throw new AppError('SERVICE_UNAVAILABLE', 'The exchange rates cannot be reached', { cause });
        }
        // At random, so that replicas do not come back all at once.
        await wait(delay * (0.5 + Math.random()));
      }
    }
  }

  /** @throws Error when it cannot be reached */
  async ping(signal: AbortSignal): Promise<void> {
    const response = await fetch(`${this.baseUrl}/health`, { signal }).catch(() => undefined);
    if (!response?.ok) throw new Error('the exchange rates cannot be reached');
  }
}
