import { Injectable } from '@nestjs/common';
import { AppError, type FieldError } from '../common/errors/errors.js';
import { Drain } from '../common/lifecycle/drain.js';
import { Database } from '../database/database.js';
import { isOutage } from '../database/failures.js';

@Injectable()
export class Readiness {
  constructor(
    private readonly drain: Drain,
    private readonly database: Database,
  ) {}

  /** @throws AppError `SERVICE_UNAVAILABLE` with a detail for each thing that is wanting */
  async check(): Promise<void> {
    const details: FieldError[] = [];
    if (this.drain.draining) details.push({ field: 'draining', message: 'the process is stopping' });
    try {
      const pending = await this.database.pendingMigrations();
      if (pending > 0) details.push({ field: 'migrations', message: `${pending} still to run` });
    } catch (error) {
      if (!isOutage(error)) throw error;
      details.push({ field: 'database', message: 'cannot be reached' });
    }
    if (details.length > 0) throw new AppError('SERVICE_UNAVAILABLE', 'Not ready for requests', { details });
  }
}
