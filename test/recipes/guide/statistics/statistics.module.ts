import { CacheInterceptor, CacheKey, CacheModule, CacheTTL } from '@nestjs/cache-manager';
import { Controller, Get, Module, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiOperation, ApiSchema, ApiTags } from '@nestjs/swagger';
import { ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { Public } from '../../../../src/platform/access/index.js';
import { Int64Property } from '../../../../src/platform/http/openapi/properties.js';
import { Returns } from '../../../../src/platform/http/openapi/returns.js';
import { Post } from '../../../../src/posts/post.entity.js';

/** The responses. Without `@Returns…`, the reference has an empty body, and a test that gets another one fails. */
@ApiSchema({ name: 'PostCount' })
class PostCountView {
  @Int64Property({ example: 42 })
  readonly posts!: number;
}

@ApiSchema({ name: 'DraftCount' })
class DraftCountView {
  @Int64Property({ example: 2 })
  readonly drafts!: number;
}

@ApiTags('Statistics')
@Controller({ path: 'statistics', version: '1' })
@Public()
class StatisticsController {
  constructor(@InjectRepository(Post) private readonly posts: Repository<Post>) {}

  /** Without the key, each query string would be an entry; with it, every caller gets the same response. */
  @Get('posts')
  @UseInterceptors(CacheInterceptor)
  @CacheKey('statistics/posts')
  @CacheTTL(60_000)
  @ApiOperation({ summary: 'Counts posts, at most a minute ago' })
  @Returns(PostCountView)
  async countPosts(): Promise<PostCountView> {
    return { posts: await this.posts.count() };
  }

  @Get('drafts')
  @UseGuards(ThrottlerGuard)
  @ApiOperation({ summary: 'Counts drafts, at most twice a minute for each client' })
  @Returns(DraftCountView)
  async countDrafts(): Promise<DraftCountView> {
    return { drafts: await this.posts.countBy({ status: 'draft' }) };
  }
}

@Module({
  imports: [
    CacheModule.register(),
    ThrottlerModule.forRoot([{ ttl: 60_000, limit: 2 }]),
    TypeOrmModule.forFeature([Post]),
  ],
  controllers: [StatisticsController],
})
export class StatisticsModule {}
