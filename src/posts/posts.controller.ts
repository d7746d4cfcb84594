import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Patch,
  Post,
  Query,
  Res,
  Req,
} from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WriteAccess } from '../platform/access/index.js';
import { withEntityTag, ReplyWithEntityTag } from '../platform/http/responses/entity-tag.js';
import { paged, type Paged } from '../platform/http/responses/paged.js';
import { Precondition } from '../platform/http/responses/if-match.js';
import type { ExpectedVersion } from '../platform/http/responses/expected-version.js';
import { WithoutDetails } from '../platform/http/responses/without-details.js';
import { created } from '../platform/http/responses/created.js';
import { AnyContentType } from '../platform/http/json-body.js';
import {
  ReturnsCursorPage,
  ReturnsData,
  ReturnsPageOrCursorPage,
  Throws,
} from '../platform/http/openapi/returns.js';
import { Id } from '../platform/http/validation/id.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import { CreatePostInput, UpdatePostInput } from './post.input.js';
import { listPosts, listPostsByCursor, PostsByCursorQuery, PostsQuery } from './post.query.js';
import { type ListedPost, POSTS_PATH, PostView, toPostView } from './post.view.js';
import { PostLists } from './post-lists.js';
import { PostsService } from './posts.service.js';

@ApiTags('Posts')
@Controller({ path: 'posts', version: '1' })
@WriteAccess()
@WithoutDetails()
export class PostsController {
  constructor(
    private readonly posts: PostsService,
    private readonly lists: PostLists,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists posts' })
  @ReturnsPageOrCursorPage(PostView)
  @Throws('INVALID_CURSOR')
  async list(
    @Query() query: PostsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<ListedPost>> {
    const page =
      query.cursor === undefined
        ? await this.lists.list(listPosts(query))
        : await this.lists.listByCursor(listPostsByCursor(query));
    return paged(reply, page);
  }

  @Get('cursor')
  @ApiOperation({ summary: 'Lists posts by cursor, in the order of their ids' })
  @ReturnsCursorPage(PostView)
  @Throws('INVALID_CURSOR')
  async listByCursor(
    @Query() query: PostsByCursorQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<ListedPost>> {
    return paged(reply, await this.lists.listByCursor(listPostsByCursor(query)));
  }

  @Post()
  @AnyContentType()
  @Idempotent()
  @ApiOperation({ summary: 'Creates a post' })
  @ReturnsData(PostView)
  async create(
    @Body() input: CreatePostInput,
    @ReplyWithEntityTag() reply: FastifyReply,
  ): Promise<{ data: PostView }> {
    return created(reply, POSTS_PATH, toPostView(withEntityTag(reply, await this.posts.create(input))));
  }

  @Get(':id')
  @ApiOperation({ summary: 'Reads a post' })
  @ReturnsData(PostView)
  @Throws({ NOT_FOUND: 'Post not found' })
  async read(
    @Id() id: number,
    @Req() { method }: FastifyRequest,
    @ReplyWithEntityTag() reply: FastifyReply,
  ): Promise<{ data: PostView }> {
    // Only a GET counts as a view.
    const post = await (method === 'GET' ? this.posts.read(id) : this.posts.get(id));
    return { data: toPostView(withEntityTag(reply, post)) };
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Updates the given fields of a post' })
  @ReturnsData(PostView)
  @Throws({ NOT_FOUND: 'Post not found' })
  @AnyContentType()
  async update(
    @Id() id: number,
    @Body() input: UpdatePostInput,
    @ReplyWithEntityTag() reply: FastifyReply,
    @Precondition() expected: ExpectedVersion | undefined,
  ): Promise<{ data: PostView }> {
    return { data: toPostView(withEntityTag(reply, await this.posts.update(id, input, expected))) };
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Deletes a post' })
  @Throws({ NOT_FOUND: 'Post not found' })
  @AnyContentType()
  @HttpCode(HttpStatus.NO_CONTENT)
  async delete(@Id() id: number, @Precondition() expected: ExpectedVersion | undefined): Promise<void> {
    await this.posts.delete(id, expected);
  }
}
