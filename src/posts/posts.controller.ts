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
  Req,
  UseFilters,
} from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { WriteAccess } from '../auth/write-access.js';
import { Created } from '../common/http/created.js';
import { AnyContentType } from '../common/http/json-body.js';
import type { CursorPage, Page } from '../common/pagination/page.js';
import { Id } from '../common/validation/id.js';
import { CreatePostInput, UpdatePostInput } from './post.input.js';
import { listPosts, walkPosts } from './post.query.js';
import type { PostView } from './post.view.js';
import { PostsService } from './posts.service.js';
import { WithoutDetailsFilter } from './without-details.filter.js';

@Controller({ path: 'posts', version: '1' })
@WriteAccess()
@UseFilters(WithoutDetailsFilter)
export class PostsController {
  constructor(private readonly posts: PostsService) {}

  @Get()
  list(@Query() query: Record<string, string>): Promise<Page<PostView> | CursorPage<PostView>> {
    return 'cursor' in query ? this.posts.walk(walkPosts(query)) : this.posts.list(listPosts(query));
  }

  @Get('cursor')
  async walk(@Query() query: Record<string, string>): Promise<CursorPage<PostView>> {
    return this.posts.walk(walkPosts(query));
  }

  @Post()
  @AnyContentType()
  async create(@Body() input: CreatePostInput): Promise<Created<PostView>> {
    return new Created('/v1/posts', await this.posts.create(input));
  }

  @Get(':id')
  async read(@Id() id: number, @Req() { method }: FastifyRequest): Promise<{ data: PostView }> {
    // Only a GET counts as a reading.
    return { data: await (method === 'GET' ? this.posts.read(id) : this.posts.findOne(id)) };
  }

  @Patch(':id')
  @AnyContentType()
  async update(@Id() id: number, @Body() input: UpdatePostInput): Promise<{ data: PostView }> {
    return { data: await this.posts.update(id, input) };
  }

  @Delete(':id')
  @AnyContentType()
  @HttpCode(HttpStatus.NO_CONTENT)
  async delete(@Id() id: number): Promise<void> {
    await this.posts.delete(id);
  }
}
