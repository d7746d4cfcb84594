import { BullModule, InjectQueue, Processor, WorkerHost } from '@nestjs/bullmq';
import { Body, Controller, HttpCode, HttpStatus, Injectable, Logger, Module, Post } from '@nestjs/common';
import { ApiOperation, ApiProperty, ApiSchema, ApiTags } from '@nestjs/swagger';
import type { Job, Queue } from 'bullmq';
import { StaffOnly } from '../../../../src/platform/access/index.js';
import { Returns } from '../../../../src/platform/http/openapi/returns.js';
import { Text } from '../../../../src/platform/http/validation/text.js';
import { Config } from '../../../../src/platform/config/config.js';

export class MailingInput {
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

@ApiTags('Mailings')
@Controller({ path: 'mailings', version: '1' })
@StaffOnly()
class MailingsController {
  constructor(@InjectQueue('mailings') private readonly queue: Queue<MailingInput>) {}

  @Post()
  @HttpCode(HttpStatus.ACCEPTED)
  @ApiOperation({ summary: 'Puts a mailing into the queue' })
  @Returns(MailingJobView)
  async create(@Body() input: MailingInput): Promise<MailingJobView> {
    const job = await this.queue.add('deliver', input, {
      attempts: 5,
      backoff: { type: 'exponential', delay: 1000 },
      removeOnComplete: 1000,
      removeOnFail: 1000,
    });
    return { job: job.id! };
  }
}

/** A job may run more than once: after a crash, it is taken from the queue again. */
@Processor('mailings')
class MailingsProcessor extends WorkerHost {
  constructor(private readonly mailings: Mailings) {
    super();
  }

  process({ data }: Job<MailingInput>): Promise<void> {
    return this.mailings.deliver(data);
  }
}

@Module({
  imports: [
    BullModule.forRootAsync({
      inject: [Config],
      useFactory: ({ redisUrl }: Config) => {
        if (redisUrl === undefined) throw new Error('Mailings need REDIS_URL');
        return { connection: { url: redisUrl } };
      },
    }),
    BullModule.registerQueue({ name: 'mailings' }),
  ],
  controllers: [MailingsController],
  providers: [Mailings, MailingsProcessor],
})
export class MailingModule {}
