import { Injectable, Logger, Module } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { Clock } from '../../../../src/platform/jobs/clock.js';
import { Queries } from '../../../../src/platform/database/queries.js';
import { Transactions } from '../../../../src/platform/database/transactions.js';
import { Post } from '../../../../src/posts/post.entity.js';

/** 30 days, in milliseconds. */
const MAX_AGE = 30 * 24 * 60 * 60 * 1000;

/** Deletes drafts that have not changed for 30 days. */
@Injectable()
export class DraftCleanup {
  private readonly logger = new Logger(DraftCleanup.name);

  constructor(
    @InjectRepository(Post) private readonly posts: Repository<Post>,
    private readonly queries: Queries,
    private readonly transactions: Transactions,
    private readonly clock: Clock,
  ) {}

  @Cron('0 3 * * *', { name: 'draft-cleanup', timeZone: 'UTC' })
  async run(): Promise<void> {
    const before = new Date(this.clock.now().getTime() - MAX_AGE);
    await this.transactions.run(async () => {
      // Every replica starts the job; only one of them gets the lock.
      const lock = this.queries.dialect.tryLock(':name');
      const [row] = await this.transactions.execute<{ isOurs: boolean }>(`SELECT ${lock} AS "isOurs"`, {
        name: 'draft-cleanup',
      });
      if (!row?.isOurs) return;
      const { affected } = await this.posts.delete({ status: 'draft', updatedAt: LessThan(before) });
      this.logger.log(`${affected ?? 0} drafts deleted`);
    });
  }
}

@Module({
  imports: [ScheduleModule.forRoot(), TypeOrmModule.forFeature([Post])],
  providers: [DraftCleanup],
})
export class CleanupModule {}
