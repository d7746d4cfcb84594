import { Controller, Get, VERSION_NEUTRAL } from '@nestjs/common';
import { Readiness } from './readiness.js';

@Controller({ path: 'health', version: VERSION_NEUTRAL })
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** The process serves; nothing else is asked. */
  @Get()
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Whether to send requests here. */
  @Get('ready')
  async ready(): Promise<{ status: 'ok' }> {
    await this.readiness.check();
    return { status: 'ok' };
  }
}
