import { Body, Controller, Delete, Get, HttpCode, HttpStatus, Patch, Post, Query, Req } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { WriteAccess } from '../auth/access/index.js';
import { WithoutDetails } from '../common/errors/without-details.js';
import { Created } from '../common/responses/created.js';
import { AnyContentType } from '../common/http/json-body.js';
import type { QueryParameters } from '../common/http/query.js';
import {
  AnswersCursorPage,
  AnswersCreated,
  AnswersData,
  AnswersPageOrCursorPage,
  Refuses,
} from '../common/openapi/answers.js';
import { CursorQuery, LimitQuery, PageQuery } from '../common/openapi/queries.js';
import type { CursorPage, Page } from '../common/pagination/page.js';
import { Id } from '../common/validation/id.js';
import { Idempotent } from '../idempotency/idempotent.js';
import { CreatePostInput, UpdatePostInput } from './post.input.js';
import { listPosts, walkPosts } from './post.query.js';
import { FilterQuery, SortQuery } from './post.reference.js';
import { PostView } from './post.view.js';
import { PostsService } from './posts.service.js';

@ApiTags('Posts')
@Controller({ path: 'posts', version: '1' })
@WriteAccess()
@WithoutDetails()
export class PostsController {
  constructor(private readonly posts: PostsService) {}

  @Get()
  @ApiOperation({ summary: 'Lists posts' })
  @PageQuery()
  @FilterQuery()
  @SortQuery()
  @CursorQuery()
  @AnswersPageOrCursorPage(PostView)
  @Refuses('INVALID_CURSOR')
  list(@Query() query: QueryParameters): Promise<Page<PostView> | CursorPage<PostView>> {
    return 'cursor' in query ? this.posts.walk(walkPosts(query)) : this.posts.list(listPosts(query));
  }

  @Get('cursor')
  @ApiOperation({ summary: 'Walks through posts by cursor, in the order of their ids' })
  @CursorQuery()
  @LimitQuery()
  @FilterQuery()
  @AnswersCursorPage(PostView)
  @Refuses('INVALID_CURSOR')
  async walk(@Query() query: QueryParameters): Promise<CursorPage<PostView>> {
    return this.posts.walk(walkPosts(query));
  }

  @Post()
  @AnyContentType()
  @Idempotent()
  @ApiOperation({ summary: 'Creates a post' })
  @AnswersCreated(PostView)
  async create(@Body() input: CreatePostInput): Promise<Created<PostView>> {
    return new Created('/v1/posts', await this.posts.create(input));
  }

  @Get(':id')
  @ApiOperation({ summary: 'Reads a post' })
  @AnswersData(PostView)
  @Refuses({ NOT_FOUND: 'Post not found' })
  async read(@Id() id: number, @Req() { method }: FastifyRequest): Promise<{ data: PostView }> {
    // Only a GET counts as a reading.
    return { data: await (method === 'GET' ? this.posts.read(id) : this.posts.findOne(id)) };
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Changes the fields of a post that are sent' })
  @AnswersData(PostView)
  @Refuses({ NOT_FOUND: 'Post not found' })
  @AnyContentType()
  async update(@Id() id: number, @Body() input: UpdatePostInput): Promise<{ data: PostView }> {
    return { data: await this.posts.update(id, input) };
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Deletes a post' })
  @Refuses({ NOT_FOUND: 'Post not found' })
  @AnyContentType()
  @HttpCode(HttpStatus.NO_CONTENT)
  async delete(@Id() id: number): Promise<void> {
    await this.posts.delete(id);
  }
}
