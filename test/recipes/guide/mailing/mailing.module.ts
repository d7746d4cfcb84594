import {
  Body,
  Controller,
  HttpCode,
  HttpStatus,
  Injectable,
  Logger,
  Module,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
  Post,
} from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiSchema, ApiTags } from '@nestjs/swagger';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { StaffOnly } from '../../../../src/platform/access/index.js';
import { Config } from '../../../../src/platform/config/config.js';
import { AppError } from '../../../../src/platform/http/errors/errors.js';
import { Returns, Throws } from '../../../../src/platform/http/openapi/returns.js';
import { Text } from '../../../../src/platform/http/validation/text.js';

const NO_REDIS = 'Mailings need Redis: set REDIS_URL';
const REDIS_IS_AWAY = 'Mailings are not available, because Redis is not; retry later';

export class MailingInput {
  @ApiProperty({ example: 'News of November' })
  @Text({ min: 1, max: 200 })
  subject!: string;
}

@ApiSchema({ name: 'MailingJob' })
class MailingJobView {
  @ApiProperty({ example: '1' })
  readonly job!: string;
}

/** What is done with each mailing. */
@Injectable()
export class Mailings {
  private readonly logger = new Logger(Mailings.name);

  async deliver({ subject }: MailingInput): Promise<void> {
    this.logger.log(`Delivered: ${subject}`);
  }
}

/** The queue in Redis, and its worker in each process that serves. Without Redis, the service starts without them. */
@Injectable()
class MailingQueue implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger(MailingQueue.name);
  private redis?: Redis;
  private queue?: Queue<MailingInput>;
  private worker?: Worker<MailingInput>;

  constructor(
    private readonly mailings: Mailings,
    private readonly config: Config,
  ) {}

  onApplicationBootstrap(): void {
    const { redisUrl: url, serves } = this.config;
    if (!serves) return;
    if (url === undefined) return this.logger.warn(NO_REDIS);
    // No request waits for a Redis that is away.
    this.redis = new Redis(url, { enableOfflineQueue: false, commandTimeout: 1000 });
    this.queue = new Queue('mailings', { connection: this.redis });
    // A job may run more than once: after a crash, it is taken from the queue again.
    this.worker = new Worker('mailings', ({ data }) => this.mailings.deliver(data), {
      // A worker that waits to connect again does not close; by default it waits up to 20 seconds.
      connection: { url, retryStrategy: () => 500 },
    });
    const onError = ({ message }: Error) => this.logger.warn(message);
    this.queue.on('error', onError);
    this.worker.on('error', onError);
  }

  async onApplicationShutdown(): Promise<void> {
    const isAway = await this.redis?.ping().then(
      () => false,
      () => true,
    );
    // Without force, it would wait until Redis is back.
    await this.worker?.close(isAway);
    this.redis?.disconnect();
  }

  /** @throws AppError `SERVICE_UNAVAILABLE` */
  async add(input: MailingInput): Promise<string> {
    if (!this.queue) throw new AppError('SERVICE_UNAVAILABLE', NO_REDIS);
    const options = {
      attempts: 5,
      backoff: { type: 'exponential', delay: 1000 },
      removeOnComplete: 1000,
      removeOnFail: 1000,
    };
    try {
      const job = await this.queue.add('deliver', input, options);
      return job.id!;
    } catch (cause) {
      throw new AppError('SERVICE_UNAVAILABLE', REDIS_IS_AWAY, { cause });
    }
  }
}

@ApiTags('Mailings')
@Controller({ path: 'mailings', version: '1' })
@StaffOnly()
class MailingsController {
  constructor(private readonly queue: MailingQueue) {}

  @Post()
  @HttpCode(HttpStatus.ACCEPTED)
  @ApiOperation({ summary: 'Puts a mailing into the queue' })
  @Returns(MailingJobView)
  @Throws({ SERVICE_UNAVAILABLE: [NO_REDIS, REDIS_IS_AWAY] })
  async create(@Body() input: MailingInput): Promise<MailingJobView> {
    return { job: await this.queue.add(input) };
  }
}

@Module({ controllers: [MailingsController], providers: [Mailings, MailingQueue] })
export class MailingModule {}
