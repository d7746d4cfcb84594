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
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Client, type ClientInfo } from '../../common/http/client.js';
import { SmallBodies } from '../../common/http/json-body.js';
import { NoStore } from '../../common/http/route-config.js';
import { Returns, Throws } from '../../common/openapi/returns.js';
import { CurrentPrincipal, Public, SessionOnly } from '../access/index.js';
import { EMAIL_NOT_VERIFIED, LoginInput, TOO_MANY_FAILURES } from '../accounts/index.js';
import { SessionCookie } from './session-cookie.js';
import { SessionView } from './session.view.js';
import { type Session, SessionsService } from './sessions.service.js';

@ApiTags('Accounts')
@Controller({ path: 'auth/session', version: VERSION_NEUTRAL })
@SmallBodies()
@NoStore()
export class SessionsController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookie: SessionCookie,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Logs in, and sets a session cookie' })
  @Returns(SessionView)
  @Throws({
    UNAUTHENTICATED: 'The e-mail or the password is wrong',
    FORBIDDEN: EMAIL_NOT_VERIFIED,
    RATE_LIMITED: TOO_MANY_FAILURES,
  })
  @Public()
  @HttpCode(HttpStatus.OK)
  async logIn(
    @Body() input: LoginInput,
    @Client() client: ClientInfo,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionView> {
    const { view, credential } = await this.sessions.logIn(input, client, this.cookie.read(request));
    this.cookie.write(reply, credential);
    return view;
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
