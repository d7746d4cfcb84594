import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpCode,
  HttpStatus,
  Patch,
  Post,
  Put,
  Query,
  Res,
} from '@nestjs/common';
import { ApiExtraModels, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { WriteAccess } from '../platform/access/index.js';
import { withEntityTag, ReplyWithEntityTag } from '../platform/http/responses/entity-tag.js';
import type { ExpectedVersion } from '../platform/http/responses/expected-version.js';
import { Precondition } from '../platform/http/responses/if-match.js';
import { paged } from '../platform/http/responses/paged.js';
import { varyOn } from '../platform/http/cache-headers.js';
import { Returns, ReturnsSchema, Throws } from '../platform/http/openapi/returns.js';
import { PageRequestOf } from '../platform/http/pages/page-request.js';
import { Id } from '../platform/http/validation/id.js';
import { Idempotent } from '../platform/idempotency/idempotent.js';
import { CreateUserInput, UpdateUserInput } from './user.input.js';
import { toListItem, toViewV1, UserListItem, UserViewV1 } from './user.view.js';
import { TAG_FORMATS, toXml, XML_TAG } from './user-xml.js';
import { HAS_POSTS, IS_AUTHOR, UsersService } from './users.service.js';

class UserPageRequest extends PageRequestOf({ limit: 100, maxLimit: 100 }) {}

/** A page of users without `meta`; the header `Link` leads to the other pages. */
const USER_LIST_V1 = {
  type: 'object',
  properties: { users: { type: 'array', items: { $ref: getSchemaPath(UserListItem) } } },
  required: ['users'],
  additionalProperties: false,
};

@ApiTags('Users')
@ApiExtraModels(UserListItem)
@Controller({ path: 'users', version: '1' })
@WriteAccess()
export class UsersV1Controller {
  constructor(private readonly users: UsersService) {}

  @Get()
  @ApiOperation({ summary: 'Lists users' })
  @ReturnsSchema('UserListV1', USER_LIST_V1)
  async list(
    @Query() request: UserPageRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ users: readonly UserListItem[] }> {
    const page = await this.users.list(request);
    // For `Link` only.
    paged(reply, page);
    return { users: page.data.map(toListItem) };
  }

  @Post()
  @Idempotent()
  @ApiOperation({ summary: 'Creates a user' })
  @Returns(UserViewV1)
  async create(
    @Body() input: CreateUserInput,
    @ReplyWithEntityTag() reply: FastifyReply,
  ): Promise<UserViewV1> {
    const user = withEntityTag(reply, await this.users.create(input));
    reply.header('location', `/v1/users/${user.id}`);
    return toViewV1(user);
  }

  /** XML if `Accept` is exactly `application/xml`, otherwise JSON. */
  @Get(':id')
  @ApiOperation({ summary: 'Reads a user' })
  @Returns(UserViewV1, ['application/json', 'application/xml'])
  @Throws({ NOT_FOUND: 'User not found' })
  async read(
    @Id() id: number,
    @Headers('accept') accept: string | undefined,
    @ReplyWithEntityTag() reply: FastifyReply,
  ): Promise<UserViewV1 | string> {
    varyOn(reply, 'Accept');
    const user = await this.users.get(id);
    if (accept !== 'application/xml') return toViewV1(withEntityTag(reply, user));
    reply.header('content-type', 'application/xml');
    return toXml(toViewV1(withEntityTag(reply, user, XML_TAG)));
  }

  @Put(':id')
  @ApiOperation({ summary: 'Sets all fields of a user' })
  @Returns(UserViewV1)
  @Throws({ NOT_FOUND: 'User not found' })
  async replace(
    @Id() id: number,
    @Body() input: CreateUserInput,
    @ReplyWithEntityTag() reply: FastifyReply,
    @Precondition(TAG_FORMATS) expected: ExpectedVersion | undefined,
  ): Promise<UserViewV1> {
    return toViewV1(withEntityTag(reply, await this.users.replace(id, input, expected)));
  }

  @Patch(':id')
  @ApiOperation({ summary: 'Updates the given fields of a user' })
  @Returns(UserViewV1)
  @Throws({ NOT_FOUND: 'User not found' })
  async update(
    @Id() id: number,
    @Body() input: UpdateUserInput,
    @ReplyWithEntityTag() reply: FastifyReply,
    @Precondition(TAG_FORMATS) expected: ExpectedVersion | undefined,
  ): Promise<UserViewV1> {
    return toViewV1(withEntityTag(reply, await this.users.update(id, input, expected)));
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
