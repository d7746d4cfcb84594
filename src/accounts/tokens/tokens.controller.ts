import { Body, Controller, HttpCode, HttpStatus, Post, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { AuthRoutes } from '../auth-routes.js';
import {
  AcceptsOneOf,
  Returns,
  ReturnsMessage,
  ReturnsOneOf,
  ReturnsSchema,
  Throws,
} from '../../platform/http/openapi/returns.js';
import { Client, type ClientInfo } from '../../platform/http/client.js';
import { Public, TOO_MANY_CODES, TOO_MANY_FAILURES, WRONG_CODE } from '../../platform/access/index.js';
import { LoginInput } from '../account.input.js';
import { SecondStepInput } from '../totp/totp.input.js';
import { SecondStepRequired } from '../login/login-steps.js';
import { Text } from '../../platform/http/validation/text.js';
import { RefreshTokens } from './refresh-tokens.js';
import { TokenPair, TokensService } from './tokens.service.js';
import { BAD_CREDENTIALS, EMAIL_NOT_VERIFIED, WRONG_VERIFIER } from '../login.errors.js';

class RefreshInput {
  @Text()
  refresh!: string;
}

class VerifyInput {
  @Text()
  token!: string;
}

@Controller({ path: 'auth', version: VERSION_NEUTRAL })
@AuthRoutes()
@Public()
export class TokensController {
  constructor(
    private readonly tokens: TokensService,
    private readonly refreshTokens: RefreshTokens,
  ) {}

  @Post('login')
  @ApiOperation({
    summary: 'Exchanges an e-mail and a password for tokens',
    description:
      'For an account with a second factor, the response has an `mfa_token` instead. A second call with it and a `code` returns the tokens.',
  })
  @AcceptsOneOf(LoginInput, SecondStepInput)
  @ReturnsOneOf(TokenPair, SecondStepRequired)
  @Throws('TOKEN_NOT_VALID', {
    INVALID_CODE: WRONG_VERIFIER,
    UNAUTHENTICATED: [BAD_CREDENTIALS, WRONG_CODE],
    FORBIDDEN: EMAIL_NOT_VERIFIED,
    RATE_LIMITED: [TOO_MANY_FAILURES, TOO_MANY_CODES],
  })
  @HttpCode(HttpStatus.OK)
  login(@Body() body: unknown, @Client() client: ClientInfo): Promise<TokenPair | SecondStepRequired> {
    return this.tokens.login(body, client);
  }

  @Post('refresh')
  @ApiOperation({ summary: 'Exchanges a refresh token for new tokens; each refresh token works once' })
  @Returns(TokenPair)
  @Throws('TOKEN_NOT_VALID')
  @HttpCode(HttpStatus.OK)
  refresh(@Body() { refresh }: RefreshInput, @Client() client: ClientInfo): Promise<TokenPair> {
    return this.refreshTokens.exchange(refresh, client);
  }

  @Post('verify')
  @ApiOperation({ summary: 'Reports whether a token is valid' })
  @ReturnsSchema('EmptyObject', { type: 'object', additionalProperties: false })
  @Throws('TOKEN_NOT_VALID')
  @HttpCode(HttpStatus.OK)
  async verify(@Body() { token }: VerifyInput): Promise<Record<string, never>> {
    await this.refreshTokens.verify(token);
    return {};
  }

  @Post('logout')
  @ApiOperation({ summary: 'Ends the login of a refresh token' })
  @ReturnsMessage('Logged out')
  @Throws('TOKEN_NOT_VALID')
  @HttpCode(HttpStatus.OK)
  async logout(@Body() { refresh }: RefreshInput): Promise<{ message: string }> {
    await this.refreshTokens.logout(refresh);
    return { message: 'Logged out' };
  }
}
