import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Param,
  Post,
  Res,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Client, type ClientInfo } from '../../platform/http/client.js';
import { AuthRoutes } from '../auth-routes.js';
import type { FastifyReply } from 'fastify';
import { ReturnsData, ReturnsList, Throws } from '../../platform/http/openapi/returns.js';
import { created } from '../../platform/http/responses/created.js';
import {
  ChecksRecentLogin,
  CurrentAccount,
  CurrentPrincipal,
  type Principal,
} from '../../platform/access/index.js';
import type { Account } from '../account.entity.js';
import { CreateApiKeyInput } from './api-key.input.js';
import { ApiKeyView, NewApiKeyView, toApiKeyView, toNewApiKeyView } from './api-key.view.js';
import { ApiKeysService, NO_SUCH_KEY, TOO_MANY_KEYS } from './api-keys.service.js';

/** The API keys of the calling account. */
@Controller({ path: 'auth/api-keys', version: VERSION_NEUTRAL })
@AuthRoutes()
export class ApiKeysController {
  constructor(private readonly keys: ApiKeysService) {}

  @Get()
  @ApiOperation({ summary: 'Lists the API keys of the calling account' })
  @ReturnsList(ApiKeyView)
  async list(@CurrentAccount() { id }: Account): Promise<{ data: ApiKeyView[] }> {
    return { data: (await this.keys.list(id)).map(toApiKeyView) };
  }

  @Post()
  @ApiOperation({ summary: 'Creates an API key, and shows it once' })
  @ReturnsData(NewApiKeyView)
  @Throws({ CONFLICT: TOO_MANY_KEYS })
  @ChecksRecentLogin(CreateApiKeyInput)
  async create(
    @CurrentPrincipal() caller: Principal,
    @Body() input: CreateApiKeyInput,
    @Client() client: ClientInfo,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ data: NewApiKeyView }> {
    const { stored, key } = await this.keys.create(caller, input, client);
    return created(reply, '/auth/api-keys', toNewApiKeyView(stored, key));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Deletes an API key' })
  @Throws({ NOT_FOUND: NO_SUCH_KEY })
  @HttpCode(HttpStatus.NO_CONTENT)
  remove(@CurrentAccount() account: Account, @Param('id') id: string): Promise<void> {
    return this.keys.remove(account, id);
  }
}
