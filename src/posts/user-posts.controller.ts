import { Controller, Get, Query, Res, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WriteAccess } from '../platform/access/index.js';
import { withEntityTag, ReplyWithEntityTag } from '../platform/http/responses/entity-tag.js';
import { paged, type Paged } from '../platform/http/responses/paged.js';
import { ReturnsData, ReturnsPage, Throws } from '../platform/http/openapi/returns.js';
import { Id } from '../platform/http/validation/id.js';
import { UsersService } from '../users/users.service.js';
import { listPosts, UserPostsQuery } from './post.query.js';
import { type ListedPost, PostView, toPostView } from './post.view.js';
import { PostLists } from './post-lists.js';
import { PostsService } from './posts.service.js';

/** The posts of one user, for both versions of users. */
@ApiTags('Users')
@Controller({ path: 'users/:id/posts', version: ['1', '2'] })
@WriteAccess()
export class UserPostsController {
  constructor(
    private readonly users: UsersService,
    private readonly posts: PostsService,
    private readonly lists: PostLists,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists the posts of a user' })
  @ReturnsPage(PostView)
  @Throws({ NOT_FOUND: 'User not found' })
  async list(
    @Id() id: number,
    @Query() query: UserPostsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<ListedPost>> {
    const author = await this.users.get(id);
    return paged(reply, await this.lists.list(listPosts(query, author.id)));
  }

  @Get(':pid')
  @ApiOperation({ summary: 'Reads a post of a user' })
  @ReturnsData(PostView)
  @Throws({ NOT_FOUND: 'Post not found' })
  async read(
    @Id() id: number,
    @Id('pid') postId: number,
    @Req() { method }: FastifyRequest,
    @ReplyWithEntityTag() reply: FastifyReply,
  ): Promise<{ data: PostView }> {
    // Only a GET counts as a view.
    const post = await (method === 'GET' ? this.posts.read(postId, id) : this.posts.get(postId, id));
    return { data: toPostView(withEntityTag(reply, post)) };
  }
}
