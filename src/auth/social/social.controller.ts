import {
  Body,
  Controller,
  Get,
  HttpCode,
  HttpStatus,
  Param,
  Post,
  Query,
  Redirect,
  Req,
  Res,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  Returns,
  ReturnsRedirect,
  ReturnsList,
  ReturnsViewOrData,
  Throws,
} from '../../common/openapi/returns.js';
import { SmallBodies } from '../../common/http/json-body.js';
import { Audited, NoStore } from '../../common/http/route-config.js';
import { Client, type ClientInfo } from '../../common/http/client.js';
import { firstValue, type QueryParameters } from '../../common/http/query.js';
import { Public } from '../access/index.js';
import { EMAIL_NOT_VERIFIED } from '../accounts/index.js';
import { TokenPair } from '../tokens/index.js';
import { IdentityView } from './identity.view.js';
import { FlowCookie } from './login-flows.js';
import { ExchangeInput } from './social.input.js';
import { type Finished, ProviderView, SocialService } from './social.service.js';
import { UNVERIFIED_OWNER } from './social-accounts.js';
import { LINKED_ELSEWHERE } from './social-identities.js';

const PROVIDER_ERRORS = {
  NOT_FOUND: 'Provider not found',
  SERVICE_UNAVAILABLE: 'This provider is not configured here',
};

@ApiTags('Accounts')
@Controller({ path: 'auth/social', version: VERSION_NEUTRAL })
@SmallBodies()
@NoStore()
@Public()
export class SocialController {
  constructor(
    private readonly social: SocialService,
    private readonly cookie: FlowCookie,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists the providers of social login that are configured' })
  @ReturnsList(ProviderView)
  list(): { data: ProviderView[] } {
    return { data: this.social.list() };
  }

  @Post('exchange')
  @ApiOperation({ summary: 'Exchanges the one-time code of a social login for tokens' })
  @Returns(TokenPair)
  @Throws('TOKEN_NOT_VALID')
  @HttpCode(HttpStatus.OK)
  exchange(@Body() { code }: ExchangeInput, @Client() client: ClientInfo): Promise<TokenPair> {
    return this.social.exchange(code, client);
  }

  @Get(':provider')
  @ApiOperation({ summary: 'Redirects a browser to a provider' })
  @ReturnsRedirect('Redirect to the provider.')
  @Throws(PROVIDER_ERRORS)
  @Redirect()
  async start(
    @Param('provider') provider: string,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ url: string; statusCode: number }> {
    const { url, cookie } = await this.social.start(provider);
    this.cookie.write(reply, cookie);
    return { url, statusCode: HttpStatus.FOUND };
  }

  @Get(':provider/callback')
  @ApiOperation({ summary: 'Handles the callback of a provider' })
  @ReturnsViewOrData(TokenPair, IdentityView)
  @ReturnsRedirect(
    'Redirect to the front end, if one is configured: with a one-time `code`, or with `linked`, the provider whose identity was linked.',
  )
  @Throws({
    ...PROVIDER_ERRORS,
    MALFORMED_REQUEST: 'The login was not started in this browser, or has expired; start again',
    UNAUTHENTICATED: 'The provider rejected the login',
    CONFLICT: [UNVERIFIED_OWNER, LINKED_ELSEWHERE],
    FORBIDDEN: EMAIL_NOT_VERIFIED,
    VALIDATION_ERROR: 'The provider did not return an e-mail address for your account',
  })
  @Audited()
  async finish(
    @Param('provider') provider: string,
    @Query() query: QueryParameters,
    @Client() client: ClientInfo,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Finished | undefined> {
    this.social.requireConfigured(provider);
    const cookie = this.cookie.read(request) ?? '';
    this.cookie.clear(reply);
    const parameters = new URLSearchParams();
    for (const key of Object.keys(query)) parameters.set(key, firstValue(query, key)!);
    const finished = await this.social.finish(provider, { cookie, parameters, client });
    if (!('redirectTo' in finished)) return finished;
    reply.status(HttpStatus.FOUND).header('location', finished.redirectTo);
    return undefined;
  }
}
