import { Controller, Get, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { Public } from '../platform/access/index.js';
import { ForProbes, NoStore } from '../platform/http/route-config.js';
import { ReturnsSchema, Throws } from '../platform/http/openapi/returns.js';
import { NOT_READY, Readiness } from '../platform/operations/readiness.service.js';

const OK = {
  type: 'object',
  properties: { status: { type: 'string', const: 'ok' } },
  required: ['status'],
  additionalProperties: false,
};

@ApiTags('Health')
@Controller({ path: 'health', version: VERSION_NEUTRAL })
@Public()
@ForProbes()
@NoStore()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** Responds as long as the process runs; it checks nothing else. */
  @Get()
  @ApiOperation({ summary: 'Reports whether the process serves requests' })
  @ReturnsSchema('HealthStatus', OK)
  live(): { status: 'ok' } {
    return { status: 'ok' };
  }

  /** Whether to send requests to this process. */
  @Get('ready')
  @ApiOperation({ summary: 'Reports whether this process is ready for requests' })
  @ReturnsSchema('HealthStatus', OK)
  @Throws({ SERVICE_UNAVAILABLE: NOT_READY })
  async ready(): Promise<{ status: 'ok' }> {
    await this.readiness.check();
    return { status: 'ok' };
  }
}
