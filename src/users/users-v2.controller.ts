import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Patch,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { WriteAccess } from '../platform/access/index.js';
import { withEntityTag, ReplyWithEntityTag } from '../platform/http/responses/entity-tag.js';
import { paged, type Paged } from '../platform/http/responses/paged.js';
import type { ExpectedVersion } from '../platform/http/responses/expected-version.js';
import { Precondition } from '../platform/http/responses/if-match.js';
import { created } from '../platform/http/responses/created.js';
import { ReturnsData, ReturnsPage, Throws } from '../platform/http/openapi/returns.js';
import { PageRequest } from '../platform/http/pages/page-request.js';
import { Id } from '../platform/http/validation/id.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import { CreateUserInput, UpdateUserInput } from './user.input.js';
import { toListItem, toUserView, UserListItem, UserView } from './user.view.js';
import { TAG_FORMATS } from './user-xml.js';
import { HAS_POSTS, IS_AUTHOR, UsersService } from './users.service.js';

@ApiTags('Users')
@Controller({ path: 'users', version: '2' })
@WriteAccess()
export class UsersV2Controller {
  constructor(private readonly users: UsersService) {}

  @Get()
  @ApiOperation({ summary: 'Lists users' })
  @ReturnsPage(UserListItem)
  async list(
    @Query() page: PageRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<UserListItem>> {
    return paged(reply, (await this.users.list(page)).map(toListItem));
  }

  @Post()
  @Idempotent()
  @ApiOperation({ summary: 'Creates a user' })
  @ReturnsData(UserView)
  async create(
    @Body() input: CreateUserInput,
    @ReplyWithEntityTag() reply: FastifyReply,
  ): Promise<{ data: UserView }> {
    return created(reply, '/v2/users', toUserView(withEntityTag(reply, await this.users.create(input))));
  }

  @Get(':id')
  @ApiOperation({ summary: 'Reads a user' })
  @ReturnsData(UserView)
  @Throws({ NOT_FOUND: 'User not found' })
  async read(@Id() id: number, @ReplyWithEntityTag() reply: FastifyReply): Promise<{ data: UserView }> {
    return { data: toUserView(withEntityTag(reply, await this.users.get(id))) };
  }

  @Put(':id')
  @ApiOperation({ summary: 'Sets all fields of a user' })
  @ReturnsData(UserView)
  @Throws({ NOT_FOUND: 'User not found' })
  async replace(
    @Id() id: number,
    @Body() input: CreateUserInput,
    @ReplyWithEntityTag() reply: FastifyReply,
    @Precondition(TAG_FORMATS) expected: ExpectedVersion | undefined,
  ): Promise<{ data: UserView }> {
    return { data: toUserView(withEntityTag(reply, await this.users.replace(id, input, expected))) };
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Updates the given fields of a user' })
  @ReturnsData(UserView)
  @Throws({ NOT_FOUND: 'User not found' })
  async update(
    @Id() id: number,
    @Body() input: UpdateUserInput,
    @ReplyWithEntityTag() reply: FastifyReply,
    @Precondition(TAG_FORMATS) expected: ExpectedVersion | undefined,
  ): Promise<{ data: UserView }> {
    return { data: toUserView(withEntityTag(reply, await this.users.update(id, input, expected))) };
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Deletes a user' })
  @Throws({ NOT_FOUND: 'User not found', CONFLICT: [HAS_POSTS, IS_AUTHOR] })
  @HttpCode(HttpStatus.NO_CONTENT)
  async delete(
    @Id() id: number,
    @Precondition(TAG_FORMATS) expected: ExpectedVersion | undefined,
  ): Promise<void> {
    await this.users.delete(id, expected);
  }
}
