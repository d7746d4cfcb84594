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
import { AuthRoutes } from '../auth-routes.js';
import type { FastifyReply } from 'fastify';
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import { Client, type ClientInfo } from '../../platform/http/client.js';
import {
  Returns,
  ReturnsData,
  ReturnsList,
  ReturnsSchema,
  Throws,
} from '../../platform/http/openapi/returns.js';
import { OptionalBody } from '../../platform/http/validation/input.pipe.js';
import { created } from '../../platform/http/responses/created.js';
import {
  ChecksRecentLogin,
  CurrentAccount,
  CurrentPrincipal,
  LAST_WAY,
  type Principal,
  Public,
  RecentInput,
  RecentLogin,
  TOO_MANY_FAILURES,
} from '../../platform/access/index.js';
import type { Account } from '../account.entity.js';
import { TokenPair, TokensService } from '../tokens/tokens.service.js';
import { PasskeyLogins, WRONG_PASSKEY } from './passkey-logins.js';
import { PasskeyLoginInput, RegisterPasskeyInput } from './passkey.input.js';
import { PasskeyView, toPasskeyView, WEBAUTHN_OPTIONS } from './passkey.view.js';
import { NO_SUCH_PASSKEY, PasskeysService, TOO_MANY_PASSKEYS, WRONG_RESPONSE } from './passkeys.service.js';
import { NO_DOMAIN, WebAuthn } from './webauthn.js';
import { EMAIL_NOT_VERIFIED } from '../login.errors.js';

/** The passkeys of the calling account, and logins by passkey. */
@Controller({ path: 'auth/passkeys', version: VERSION_NEUTRAL })
@AuthRoutes()
export class PasskeysController {
  constructor(
    private readonly passkeys: PasskeysService,
    private readonly webauthn: WebAuthn,
    private readonly logins: PasskeyLogins,
    private readonly tokens: TokensService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists the passkeys of the calling account' })
  @ReturnsList(PasskeyView)
  async list(@CurrentAccount() { id }: Account): Promise<{ data: PasskeyView[] }> {
    return { data: (await this.passkeys.list(id)).map(toPasskeyView) };
  }

  @Post('options')
  @ApiOperation({
    summary: 'Starts the registration of a passkey',
    description: 'The response is for `PublicKeyCredential.parseCreationOptionsFromJSON()`.',
  })
  @ReturnsSchema('PasskeyCreationOptions', WEBAUTHN_OPTIONS)
  @Throws({ SERVICE_UNAVAILABLE: NO_DOMAIN })
  @ChecksRecentLogin()
  @HttpCode(HttpStatus.OK)
  options(
    @CurrentPrincipal() caller: Principal,
    @OptionalBody(RecentInput) input: RecentInput,
    @Client() client: ClientInfo,
  ): Promise<PublicKeyCredentialCreationOptionsJSON> {
    return this.passkeys.options(caller, input, client);
  }

  @Post()
  @ApiOperation({ summary: 'Registers a passkey' })
  @ReturnsData(PasskeyView)
  @Throws({ INVALID_CODE: WRONG_RESPONSE, CONFLICT: TOO_MANY_PASSKEYS, SERVICE_UNAVAILABLE: NO_DOMAIN })
  async register(
    @CurrentPrincipal() caller: Principal,
    @Body() input: RegisterPasskeyInput,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ data: PasskeyView }> {
    return created(reply, '/auth/passkeys', toPasskeyView(await this.passkeys.register(caller, input)));
  }

  @Delete(':id')
  @ApiOperation({ summary: 'Removes a passkey' })
  @Throws({ NOT_FOUND: NO_SUCH_PASSKEY, CONFLICT: LAST_WAY })
  @RecentLogin()
  @HttpCode(HttpStatus.NO_CONTENT)
  remove(@CurrentAccount() account: Account, @Param('id') id: string): Promise<void> {
    return this.passkeys.remove(account, id);
  }

  @Post('login/options')
  @ApiOperation({
    summary: 'Starts a login by passkey',
    description: 'The response is for `PublicKeyCredential.parseRequestOptionsFromJSON()`.',
  })
  @ReturnsSchema('PasskeyRequestOptions', WEBAUTHN_OPTIONS)
  @Throws({ SERVICE_UNAVAILABLE: NO_DOMAIN })
  @Public()
  @HttpCode(HttpStatus.OK)
  loginOptions(): Promise<PublicKeyCredentialRequestOptionsJSON> {
    return this.webauthn.loginOptions();
  }

  @Post('login')
  @ApiOperation({
    operationId: 'Tokens_loginByPasskey',
    summary: 'Exchanges the response of a passkey for tokens',
  })
  @Returns(TokenPair)
  @Throws({
    UNAUTHENTICATED: WRONG_PASSKEY,
    FORBIDDEN: EMAIL_NOT_VERIFIED,
    RATE_LIMITED: TOO_MANY_FAILURES,
  })
  @Public()
  @HttpCode(HttpStatus.OK)
  async login(@Body() { response }: PasskeyLoginInput, @Client() client: ClientInfo): Promise<TokenPair> {
    return this.tokens.open(await this.logins.authenticate(response, client), client);
  }
}
