import { Injectable, Logger, Module } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { LessThan, type Repository } from 'typeorm';
import { Config } from '../../../../src/platform/config/config.js';
import { AppError } from '../../../../src/platform/http/errors/errors.js';
import { Clock } from '../../../../src/platform/jobs/clock.js';
import { Post } from '../../../../src/posts/post.entity.js';
import { PostsModule } from '../../../../src/posts/posts.module.js';
import { PostsService } from '../../../../src/posts/posts.service.js';

/** 30 days, in milliseconds. */
const MAX_AGE = 30 * 24 * 60 * 60 * 1000;

const BATCH = 500;

/** Deletes drafts that have not changed for 30 days. */
@Injectable()
export class DraftCleanup {
  private readonly logger = new Logger(DraftCleanup.name);

  constructor(
    @InjectRepository(Post) private readonly rows: Repository<Post>,
    private readonly posts: PostsService,
    private readonly clock: Clock,
    private readonly config: Config,
  ) {}

  @Cron('0 3 * * *', { name: 'draft-cleanup', timeZone: 'UTC' })
  async run(): Promise<void> {
    // A command has the same modules, and leaves this to the service.
    if (!this.config.serves) return;
    const updatedAt = LessThan(new Date(this.clock.now().getTime() - MAX_AGE));
    let deleted = 0;
    for (;;) {
      const drafts = await this.rows.find({ where: { status: 'draft', updatedAt }, take: BATCH });
      for (const draft of drafts) if (await this.delete(draft)) deleted++;
      if (drafts.length < BATCH) break;
    }
    this.logger.log(`${deleted} drafts deleted`);
  }

  /** By the service, which records the event. A draft that was changed meanwhile stays. */
  private async delete({ id, version }: Post): Promise<boolean> {
    try {
      await this.posts.delete(id, { versionOf: async () => version });
      return true;
    } catch (error) {
      // Every replica runs the job: another one has deleted it, or somebody has changed it.
      const isOver = error instanceof AppError && ['NOT_FOUND', 'PRECONDITION_FAILED'].includes(error.code);
      if (!isOver) throw error;
      return false;
    }
  }
}

@Module({
  imports: [ScheduleModule.forRoot(), TypeOrmModule.forFeature([Post]), PostsModule],
  providers: [DraftCleanup],
})
export class CleanupModule {}
