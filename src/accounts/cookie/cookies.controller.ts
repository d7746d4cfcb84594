import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Post,
  Req,
  Res,
  SetMetadata,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { AuthRoutes } from '../auth-routes.js';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Client, type ClientInfo } from '../../platform/http/client.js';
import { AcceptsOneOf, Returns, ReturnsOneOf, Throws } from '../../platform/http/openapi/returns.js';
import {
  type Access,
  ACCESS,
  CurrentPrincipal,
  Public,
  TOO_MANY_CODES,
  TOO_MANY_FAILURES,
  WRONG_CODE,
} from '../../platform/access/index.js';
import { LoginInput } from '../account.input.js';
import { SecondStepInput } from '../totp/totp.input.js';
import { SecondStepRequired } from '../login/login-steps.js';
import { PasskeySessionInput } from '../passkey/passkey.input.js';
import { WRONG_PASSKEY } from '../passkey/passkey-logins.js';
import { SocialSessionInput } from '../social/social.input.js';
import { WRONG_LOGIN_CODE } from '../social/login-codes.js';
import { SessionCookie } from './cookie.strategy.js';
import { type CookieCaller, CookiesService, CookieSessionView } from './cookies.service.js';
import { BAD_CREDENTIALS, EMAIL_NOT_VERIFIED, WRONG_VERIFIER } from '../login.errors.js';

/** Only a session cookie is accepted; a token is rejected. */
const CookieOnly = () => SetMetadata<symbol, Access>(ACCESS, 'cookie');

@Controller({ path: 'auth/session', version: VERSION_NEUTRAL })
@AuthRoutes()
export class CookiesController {
  constructor(
    private readonly cookies: CookiesService,
    private readonly cookie: SessionCookie,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Logs in, and sets a session cookie',
    description:
      'With an e-mail and a password, the response of a passkey, or the one-time code of a social login. For an account with a second factor, the response to a password has an `mfa_token` instead of a cookie; a second call with it and a `code` opens the session.',
  })
  @AcceptsOneOf(LoginInput, SecondStepInput, PasskeySessionInput, SocialSessionInput)
  @ReturnsOneOf(CookieSessionView, SecondStepRequired)
  @Throws('TOKEN_NOT_VALID', {
    INVALID_CODE: [WRONG_VERIFIER, WRONG_LOGIN_CODE],
    UNAUTHENTICATED: [BAD_CREDENTIALS, WRONG_CODE, WRONG_PASSKEY],
    FORBIDDEN: EMAIL_NOT_VERIFIED,
    RATE_LIMITED: [TOO_MANY_FAILURES, TOO_MANY_CODES],
  })
  @Public()
  @HttpCode(HttpStatus.OK)
  async logIn(
    @Body() body: unknown,
    @Client() client: ClientInfo,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<CookieSessionView | SecondStepRequired> {
    const result = await this.cookies.logIn(body, client, this.cookie.read(request));
    if (result instanceof SecondStepRequired) return result;
    this.cookie.write(reply, result.credential);
    return result.view;
  }

  @Get()
  @ApiOperation({ summary: 'Reads the session of the cookie' })
  @Returns(CookieSessionView)
  @CookieOnly()
  show(@CurrentPrincipal() caller: CookieCaller): CookieSessionView {
    return this.cookies.view(caller);
  }

  @Delete()
  @ApiOperation({ summary: 'Ends the session of the cookie' })
  @CookieOnly()
  @HttpCode(HttpStatus.NO_CONTENT)
  async logOut(
    @CurrentPrincipal() caller: CookieCaller,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.cookies.logOut(caller);
    this.cookie.clear(reply);
  }
}
