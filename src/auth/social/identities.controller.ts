import {
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
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { SmallBodies } from '../../common/http/json-body.js';
import { NoStore } from '../../common/http/route-config.js';
import { Returns, ReturnsList, Throws } from '../../common/openapi/returns.js';
import { CurrentAccount, CurrentPrincipal, type Principal } from '../access/index.js';
import { type Account, EMAIL_NOT_VERIFIED } from '../accounts/index.js';
import { AuthorizationView, IdentityView, toIdentityView } from './identity.view.js';
import { LAST_WAY, NO_SUCH_IDENTITY, SocialIdentities } from './social-identities.js';
import { FlowCookie } from './login-flows.js';
import { SocialLinks } from './social-links.js';

/** The caller's identities at providers. */
@ApiTags('Accounts')
@Controller({ path: 'auth', version: VERSION_NEUTRAL })
@SmallBodies()
@NoStore()
export class IdentitiesController {
  constructor(
    private readonly identities: SocialIdentities,
    private readonly links: SocialLinks,
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
  @HttpCode(HttpStatus.NO_CONTENT)
  unlink(@CurrentAccount() account: Account, @Param('id') id: string): Promise<void> {
    return this.identities.unlink(account.id, id);
  }

  @Post('social/:provider/link')
  @ApiOperation({ summary: 'Starts to link an identity at a provider to the calling account' })
  @Returns(AuthorizationView)
  @Throws({
    NOT_FOUND: 'Provider not found',
    FORBIDDEN: EMAIL_NOT_VERIFIED,
    SERVICE_UNAVAILABLE: 'This provider is not configured here',
  })
  @HttpCode(HttpStatus.OK)
  async link(
    @CurrentPrincipal() caller: Principal,
    @Param('provider') provider: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AuthorizationView> {
    const { url, cookie } = await this.links.start(provider, caller);
    this.cookie.write(reply, cookie);
    return { authorization_url: url };
  }
}
