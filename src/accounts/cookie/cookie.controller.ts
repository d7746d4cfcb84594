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
import { BAD_CREDENTIALS } from '../password/password-logins.js';
import { LoginInput } from '../account.input.js';
import { SecondStepInput } from '../totp/totp.input.js';
import { EMAIL_NOT_VERIFIED, SecondStepRequired, WRONG_VERIFIER } from '../login/login-steps.js';
import { PasskeySessionInput } from '../passkey/passkey.input.js';
import { WRONG_PASSKEY } from '../passkey/passkey-logins.js';
import { SocialSessionInput } from '../social/social.input.js';
import { WRONG_LOGIN_CODE } from '../social/login-codes.js';
import { SessionCookie } from './cookie.strategy.js';
import { type Session, SessionsService, SessionView } from './cookie.service.js';

/** Only a session cookie is accepted; a token is rejected. */
const SessionOnly = () => SetMetadata<symbol, Access>(ACCESS, 'session');

@Controller({ path: 'auth/session', version: VERSION_NEUTRAL })
@AuthRoutes()
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Logs in, and sets a session cookie',
    description:
      'With an e-mail and a password, the response of a passkey, or the one-time code of a social login. For an account with a second factor, the response to a password has an `mfa_token` instead of a cookie; a second call with it and a `code` opens the session.',
  })
  @AcceptsOneOf(LoginInput, SecondStepInput, PasskeySessionInput, SocialSessionInput)
  @ReturnsOneOf(SessionView, SecondStepRequired)
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
  ): Promise<SessionView | SecondStepRequired> {
    const result = await this.sessions.logIn(body, client, this.cookie.read(request));
    if (result instanceof SecondStepRequired) return result;
    this.cookie.write(reply, result.credential);
    return result.view;
  }

  @Get()
  @ApiOperation({ summary: 'Reads the session of the cookie' })
  @Returns(SessionView)
  @SessionOnly()
  show(@CurrentPrincipal() caller: Session): SessionView {
    return this.sessions.view(caller);
  }

  @Delete()
  @ApiOperation({ summary: 'Ends the session of the cookie' })
  @SessionOnly()
  @HttpCode(HttpStatus.NO_CONTENT)
  async logOut(
    @CurrentPrincipal() caller: Session,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<void> {
    await this.sessions.logOut(caller);
    this.cookie.clear(reply);
  }
}
