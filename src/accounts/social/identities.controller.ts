import {
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Param,
  Post,
  Query,
  Res,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { Client, type ClientInfo } from '../../platform/http/client.js';
import { OptionalBody } from '../../platform/http/validation/input.pipe.js';
import { AuthRoutes } from '../auth-routes.js';
import type { FastifyReply } from 'fastify';
import { Returns, ReturnsList, Throws } from '../../platform/http/openapi/returns.js';
import {
  ChecksRecentLogin,
  CurrentAccount,
  CurrentPrincipal,
  LAST_WAY,
  type Principal,
  RecentInput,
  RecentLogin,
} from '../../platform/access/index.js';
import { type Account } from '../account.entity.js';
import { AuthorizationView, IdentityView, toIdentityView } from './identity.view.js';
import { IdentitiesService, NO_SUCH_IDENTITY } from './identities.service.js';
import { FlowCookie } from './login-flows.js';
import { StartLinkQuery } from './social.input.js';
import { SocialService } from './social.service.js';
import { EMAIL_NOT_VERIFIED } from '../login.errors.js';

/** The caller's identities at providers. */
@Controller({ path: 'auth', version: VERSION_NEUTRAL })
@AuthRoutes()
export class IdentitiesController {
  constructor(
    private readonly identities: IdentitiesService,
    private readonly social: SocialService,
    private readonly cookie: FlowCookie,
  ) {}

  @Get('identities')
  @ApiOperation({ summary: 'Lists the identities of the calling account' })
  @ReturnsList(IdentityView)
  async list(@CurrentAccount() { id }: Account): Promise<{ data: IdentityView[] }> {
    return { data: (await this.identities.list(id)).map(toIdentityView) };
  }

  @Delete('identities/:id')
  @ApiOperation({ summary: 'Removes an identity from the calling account' })
  @Throws({ NOT_FOUND: NO_SUCH_IDENTITY, CONFLICT: LAST_WAY })
  @RecentLogin()
  @HttpCode(HttpStatus.NO_CONTENT)
  unlink(@CurrentAccount() account: Account, @Param('id') id: string): Promise<void> {
    return this.identities.remove(account, id);
  }

  @Post('social/:provider/link')
  @ApiOperation({ summary: 'Starts to link an identity at a provider to the calling account' })
  @Returns(AuthorizationView)
  @Throws({
    NOT_FOUND: 'Provider not found',
    FORBIDDEN: EMAIL_NOT_VERIFIED,
    SERVICE_UNAVAILABLE: 'This provider is not configured here',
  })
  @ChecksRecentLogin()
  @HttpCode(HttpStatus.OK)
  async link(
    @CurrentPrincipal() caller: Principal,
    @Param('provider') provider: string,
    @Query() { return: returnTo }: StartLinkQuery,
    @OptionalBody(RecentInput) input: RecentInput,
    @Client() client: ClientInfo,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AuthorizationView> {
    const { url, cookie } = await this.social.startLink(provider, caller, input, { client, returnTo });
    this.cookie.write(reply, cookie);
    return { authorization_url: url };
  }
}
