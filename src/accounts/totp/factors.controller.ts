import { Body, Controller, Delete, Get, HttpCode, HttpStatus, Post, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { AuthRoutes } from '../auth-routes.js';
import { Client, type ClientInfo } from '../../platform/http/client.js';
import { Returns, ReturnsData, Throws } from '../../platform/http/openapi/returns.js';
import {
  CurrentAccount,
  CurrentPrincipal,
  type Principal,
  RecentLogin,
  WRONG_CODE,
} from '../../platform/access/index.js';
import type { Account } from '../account.entity.js';
import { CodeInput, RecentCodeInput } from './totp.input.js';
import { ALREADY_ON, TotpService } from './totp.service.js';
import { FactorsView, RecoveryCodesView, TotpSetupView } from './totp.view.js';

/** The second factor of the calling account. */
@Controller({ path: 'auth/mfa', version: VERSION_NEUTRAL })
@AuthRoutes()
export class FactorsController {
  constructor(private readonly totp: TotpService) {}

  @Get()
  @ApiOperation({ summary: 'Reads which second factors the calling account has' })
  @ReturnsData(FactorsView)
  async find(@CurrentAccount() account: Account): Promise<{ data: FactorsView }> {
    return { data: await this.totp.find(account) };
  }

  @Post('totp')
  @ApiOperation({
    summary: 'Creates the secret of an authenticator app',
    description: 'Nothing is on until a code confirms it. A second call replaces the secret.',
  })
  @Returns(TotpSetupView)
  @Throws({ CONFLICT: ALREADY_ON })
  @RecentLogin()
  @HttpCode(HttpStatus.OK)
  setUp(@CurrentAccount() account: Account): Promise<TotpSetupView> {
    return this.totp.setUp(account);
  }

  @Post('totp/confirm')
  @ApiOperation({
    summary: 'Turns the second factor on with a first code, and ends all other logins',
    description: 'After five wrong codes, or ten minutes, the secret is void.',
  })
  @Returns(RecoveryCodesView)
  @Throws({ INVALID_CODE: WRONG_CODE })
  @HttpCode(HttpStatus.OK)
  async confirm(@CurrentPrincipal() caller: Principal, @Body() input: CodeInput): Promise<RecoveryCodesView> {
    return { recovery_codes: await this.totp.confirm(caller, input) };
  }

  @Post('recovery-codes')
  @ApiOperation({ summary: 'Replaces the recovery codes; the earlier ones are void' })
  @Returns(RecoveryCodesView)
  @RecentLogin(RecentCodeInput, { handlerChecksCode: true })
  @HttpCode(HttpStatus.OK)
  async renewRecoveryCodes(
    @CurrentPrincipal() caller: Principal,
    @Body() input: RecentCodeInput,
    @Client() client: ClientInfo,
  ): Promise<RecoveryCodesView> {
    return { recovery_codes: await this.totp.renewRecoveryCodes(caller, input, client) };
  }

  @Delete('totp')
  @ApiOperation({ summary: 'Turns the second factor off, with a code or a recovery code' })
  @RecentLogin(RecentCodeInput, { handlerChecksCode: true })
  @HttpCode(HttpStatus.NO_CONTENT)
  remove(
    @CurrentPrincipal() caller: Principal,
    @Body() input: RecentCodeInput,
    @Client() client: ClientInfo,
  ): Promise<void> {
    return this.totp.remove(caller, input, client);
  }
}
