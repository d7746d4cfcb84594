import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  Injectable,
  Logger,
  Module,
  ServiceUnavailableException,
  UseFilters,
} from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  HealthCheck,
  type HealthCheckResult,
  HealthCheckService,
  type HealthIndicatorResult,
  HealthIndicatorService,
  TerminusModule,
  TypeOrmHealthIndicator,
} from '@nestjs/terminus';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import type { FastifyReply } from 'fastify';
import type { Repository } from 'typeorm';
import { StaffOnly } from '../../../../src/platform/access/index.js';
import { Post } from '../../../../src/posts/post.entity.js';

/** More drafts mean that nobody publishes. */
const MAX_DRAFTS = 100;

@Injectable()
class DraftsIndicator {
  constructor(
    @InjectRepository(Post) private readonly posts: Repository<Post>,
    private readonly indicators: HealthIndicatorService,
  ) {}

  async isHealthy(key: string): Promise<HealthIndicatorResult> {
    const waiting = await this.posts.countBy({ status: 'draft' });
    const indicator = this.indicators.check(key);
    return waiting > MAX_DRAFTS ? indicator.down({ waiting }) : indicator.up({ waiting });
  }
}

/** Sends what the checks have found: without it, the details of a 503 are masked. Who may see them, the guard decides. */
@Catch(ServiceUnavailableException)
class HealthDetailsFilter implements ExceptionFilter<ServiceUnavailableException> {
  catch(exception: ServiceUnavailableException, host: ArgumentsHost): void {
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    reply.status(503).header('retry-after', '5').send(exception.getResponse());
  }
}

@ApiTags('Diagnostics')
@Controller({ path: 'diagnostics', version: '1' })
@StaffOnly()
class DiagnosticsController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly drafts: DraftsIndicator,
  ) {}

  @Get()
  @HealthCheck()
  @UseFilters(HealthDetailsFilter)
  @ApiOperation({ summary: 'Reports the details of all checks' })
  check(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.database.pingCheck('database'),
      () => this.drafts.isHealthy('drafts'),
    ]);
  }
}

@Module({
  imports: [TerminusModule.forRoot({ logger: Logger }), TypeOrmModule.forFeature([Post])],
  controllers: [DiagnosticsController],
  providers: [DraftsIndicator],
})
export class DiagnosticsModule {}
