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
import { Account } from '../../../../src/accounts/account.entity.js';
import { StaffOnly } from '../../../../src/platform/access/index.js';

/** More accounts without a verified e-mail mean that mails do not arrive, or that a bot registers. */
const MAX_UNVERIFIED = 100;

@Injectable()
class UnverifiedIndicator {
  constructor(
    @InjectRepository(Account) private readonly accounts: Repository<Account>,
    private readonly indicators: HealthIndicatorService,
  ) {}

  async isHealthy(key: string): Promise<HealthIndicatorResult> {
    const waiting = await this.accounts.countBy({ isEmailVerified: false });
    const indicator = this.indicators.check(key);
    return waiting > MAX_UNVERIFIED ? indicator.down({ waiting }) : indicator.up({ waiting });
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
    private readonly unverified: UnverifiedIndicator,
  ) {}

  @Get()
  @HealthCheck()
  @UseFilters(HealthDetailsFilter)
  @ApiOperation({ summary: 'Reports the details of all checks' })
  check(): Promise<HealthCheckResult> {
    return this.health.check([
      () => this.database.pingCheck('database'),
      () => this.unverified.isHealthy('unverified'),
    ]);
  }
}

@Module({
  imports: [TerminusModule.forRoot({ logger: Logger }), TypeOrmModule.forFeature([Account])],
  controllers: [DiagnosticsController],
  providers: [UnverifiedIndicator],
})
export class DiagnosticsModule {}
