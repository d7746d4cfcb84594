import { once } from 'node:events';
import { Injectable, Logger } from '@nestjs/common';
import { AppError, type FieldError } from '../http/errors/errors.js';
import { Drain } from './drain.js';
import { Database } from '../database/database.js';
import { describeOutage, isOutage } from '../database/failures.js';

export const NOT_READY = 'This process is not ready for requests; details name the failed checks';

const DRAINING: FieldError = { field: 'draining', message: 'the process is stopping' };

/** A check of a module: it throws an error that says what is wrong. */
export type HealthCheck = (signal: AbortSignal) => Promise<void>;

/** In milliseconds: shorter than the timeout of orchestrators. */
const CHECK_TIMEOUT = 2000;

@Injectable()
export class Readiness {
  private readonly logger = new Logger(Readiness.name);
  private readonly checks = new Map<string, HealthCheck>();
  private checking: Promise<FieldError[]> | undefined;

  constructor(
    private readonly drain: Drain,
    private readonly database: Database,
  ) {}

  /** Adds a check; the service is not ready while it throws or takes longer than {@link CHECK_TIMEOUT}. */
  register(name: string, check: HealthCheck): void {
    this.checks.set(name, check);
  }

  /** @throws AppError `SERVICE_UNAVAILABLE` with a detail for each failed check */
  async check(): Promise<void> {
    const details = await this.failures();
    if (details.length > 0) throw new AppError('SERVICE_UNAVAILABLE', NOT_READY, { details });
  }

  /** The failed checks. */
  async failures(): Promise<FieldError[]> {
    // Concurrent callers share one check of the database.
    const details = await (this.checking ??= this.findFailures().finally(() => (this.checking = undefined)));
    return this.drain.draining ? [DRAINING, ...details] : details;
  }

  private async findFailures(): Promise<FieldError[]> {
    const details: FieldError[] = [];
    try {
      details.push(...(await this.database.schemaFaults()));
      const storage = await this.database.storageFault();
      if (storage !== undefined) details.push({ field: 'storage', message: storage });
      await this.database.probe();
    } catch (error) {
      // A mistake in a check must not hide that the service is not ready.
      if (!isOutage(error)) this.logger.error(error);
      details.push({ field: 'database', message: describeOutage(error) });
    }
    const checks = this.checks.entries().map(([field, check]) => checkOne(field, check));
    return [...details, ...(await Promise.all(checks)).flat()];
  }
}

/** Clients see the message of the error. */
async function checkOne(field: string, check: HealthCheck): Promise<FieldError[]> {
  const signal = AbortSignal.timeout(CHECK_TIMEOUT);
  const late = once(signal, 'abort').then(() => {
    throw new Error('did not respond in time');
  });
  try {
    await Promise.race([check(signal), late]);
    return [];
  } catch (error) {
    return [{ field, message: error instanceof Error ? error.message : String(error) }];
  }
}
