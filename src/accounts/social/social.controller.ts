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
import { ApiOperation } from '@nestjs/swagger';
import { AuthRoutes } from '../auth-routes.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  Returns,
  ReturnsRedirect,
  ReturnsList,
  ReturnsViewsOrData,
  Throws,
} from '../../platform/http/openapi/returns.js';
import { Client, type ClientInfo } from '../../platform/http/client.js';
import type { QueryParameters } from '../../platform/http/query.js';
import { Public } from '../../platform/access/index.js';
import { REGISTRATION_CLOSED } from '../accounts.service.js';
import { SecondStepRequired } from '../login/login-steps.js';
import { TokenPair } from '../tokens/tokens.service.js';
import { IdentityView } from './identity.view.js';
import { WRONG_LOGIN_CODE } from './login-codes.js';
import { FlowCookie, WRONG_FLOW } from './login-flows.js';
import { ExchangeInput, StartSocialLoginQuery } from './social.input.js';
import { type Finished, ProviderView, SocialService, WRONG_CHALLENGE } from './social.service.js';
import { SIMILAR_EMAIL, UNVERIFIED_OWNER } from './social-accounts.js';
import { LINKED_ELSEWHERE, TOO_MANY_IDENTITIES } from './identities.service.js';
import { EMAIL_NOT_VERIFIED } from '../login.errors.js';

const PROVIDER_ERRORS = {
  NOT_FOUND: 'Provider not found',
  SERVICE_UNAVAILABLE: 'This provider is not configured here',
};

@Controller({ path: 'auth/social', version: VERSION_NEUTRAL })
@AuthRoutes()
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
  @Throws({ INVALID_CODE: WRONG_LOGIN_CODE })
  @HttpCode(HttpStatus.OK)
  exchange(@Body() input: ExchangeInput, @Client() client: ClientInfo): Promise<TokenPair> {
    return this.social.exchange(input, client);
  }

  @Get(':provider')
  @ApiOperation({
    summary: 'Redirects a browser to a provider',
    description:
      'A client that gets a one-time code sends the `code_challenge` of its secret `code_verifier` (RFC 7636).',
  })
  @ReturnsRedirect(
    'Redirect to the provider; for a browser that comes from the account page, back to it with `error`, the code of an error.',
  )
  @Throws({ ...PROVIDER_ERRORS, MALFORMED_REQUEST: WRONG_CHALLENGE })
  @Redirect()
  async start(
    @Param('provider') provider: string,
    @Query() query: StartSocialLoginQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ url: string; statusCode: number }> {
    const started = await this.social.start(provider, {
      codeChallenge: query.code_challenge,
      method: query.code_challenge_method,
      returnTo: query.return,
      acceptsHtml: acceptsHtml(request),
    });
    if ('cookie' in started) this.cookie.write(reply, started.cookie);
    return { url: 'cookie' in started ? started.url : started.redirectTo, statusCode: HttpStatus.FOUND };
  }

  @Get(':provider/callback')
  @ApiOperation({ summary: 'Handles the callback of a provider' })
  @ReturnsViewsOrData([TokenPair, SecondStepRequired], IdentityView)
  @ReturnsRedirect(
    'Redirect to the front end, if one is configured, or to the account page of this service: with a one-time `code`, with an `mfa_token` if the account has a second factor, with `linked`, the provider whose identity was linked, or, for a browser at the account page, with `error`, the code of an error.',
  )
  @Throws({
    ...PROVIDER_ERRORS,
    MALFORMED_REQUEST: WRONG_FLOW,
    UNAUTHENTICATED: 'The provider rejected the login',
    CONFLICT: [UNVERIFIED_OWNER, SIMILAR_EMAIL, LINKED_ELSEWHERE, TOO_MANY_IDENTITIES],
    FORBIDDEN: [EMAIL_NOT_VERIFIED, REGISTRATION_CLOSED],
    VALIDATION_ERROR: 'The provider did not return an e-mail address for your account',
  })
  async finish(
    @Param('provider') provider: string,
    @Query() query: QueryParameters,
    @Client() client: ClientInfo,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Finished | undefined> {
    // A program that checks links must not use up the login.
    if (request.method === 'HEAD') {
      this.social.requireConfigured(provider);
      return undefined;
    }
    const cookie = this.cookie.read(request) ?? '';
    this.cookie.clear(reply);
    const parameters = new URLSearchParams();
    for (const key of Object.keys(query)) parameters.set(key, [query[key]].flat()[0]!);
    const callback = { cookie, parameters, client, acceptsHtml: acceptsHtml(request) };
    const finished = await this.social.finish(provider, callback);
    if (!('redirectTo' in finished)) return finished;
    reply.status(HttpStatus.FOUND).header('location', finished.redirectTo);
    return undefined;
  }
}

/** Whether a browser shows the response to a person. */
const acceptsHtml = ({ headers }: FastifyRequest): boolean => headers.accept?.includes('text/html') ?? false;
