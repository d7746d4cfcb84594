import { Controller, Get, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { WriteAccess } from '../auth/access/index.js';
import type { QueryParameters } from '../common/http/query.js';
import { AnswersData, AnswersPage, Refuses } from '../common/openapi/answers.js';
import { PageQuery } from '../common/openapi/queries.js';
import type { Page } from '../common/pagination/page.js';
import { Id } from '../common/validation/id.js';
import { UsersService } from '../users/users.service.js';
import { listPosts } from './post.query.js';
import { FilterQuery, SortQuery } from './post.reference.js';
import { PostView } from './post.view.js';
import { PostsService } from './posts.service.js';

/** The posts of one user, for both versions of users. */
@ApiTags('Users')
@Controller({ path: 'users/:id/posts', version: ['1', '2'] })
@WriteAccess()
export class UserPostsController {
  constructor(
    private readonly users: UsersService,
    private readonly posts: PostsService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists the posts of a user' })
  @PageQuery()
  @FilterQuery()
  @SortQuery()
  @AnswersPage(PostView)
  @Refuses({ NOT_FOUND: 'User not found' })
  async list(@Id() id: number, @Query() query: QueryParameters): Promise<Page<PostView>> {
    const author = await this.users.findOne(id);
    return this.posts.list(listPosts(query, author.id));
  }

  @Get(':pid')
  @ApiOperation({ summary: 'Reads a post of a user' })
  @AnswersData(PostView)
  @Refuses({ NOT_FOUND: 'Post not found' })
  async read(
    @Id() id: number,
    @Id('pid') postId: number,
    @Req() { method }: FastifyRequest,
  ): Promise<{ data: PostView }> {
    // Only a GET counts as a reading.
    return { data: await (method === 'GET' ? this.posts.read(postId, id) : this.posts.findOne(postId, id)) };
  }
}
