import { Body, Controller, HttpCode, HttpStatus, Post, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import { SmallBodies } from '../../platform/http/json-body.js';
import { NoStore } from '../../platform/http/route-config.js';
import { Client, type ClientInfo } from '../../platform/http/client.js';
import { ReturnsMessage, Throws } from '../../platform/http/openapi/returns.js';
import { Public } from '../../platform/access/index.js';
import { PasswordResets } from './password-resets.js';
import { ConfirmResetInput, ResetPasswordInput } from './recovery.input.js';

@ApiTags('Accounts')
@Controller({ path: 'auth/password/reset', version: VERSION_NEUTRAL })
@SmallBodies()
@NoStore()
@Public()
export class PasswordResetController {
  constructor(private readonly resets: PasswordResets) {}

  @Post()
  @ApiOperation({
    summary: 'Sends a password reset mail',
    description: 'The response is the same for every address, whether there is an account with it or not.',
  })
  @ReturnsMessage('If there is an account with this address, a mail is on its way to it')
  @HttpCode(HttpStatus.ACCEPTED)
  async request(
    @Body() { email }: ResetPasswordInput,
    @Client() client: ClientInfo,
  ): Promise<{ message: string }> {
    await this.resets.request(email, client);
    return { message: 'If there is an account with this address, a mail is on its way to it' };
  }

  @Post('confirm')
  @ApiOperation({
    summary: 'Sets a new password with the token from a mail, and ends all logins of the account',
  })
  @ReturnsMessage('The password was changed')
  @Throws('INVALID_CODE')
  @HttpCode(HttpStatus.OK)
  async confirm(
    @Body() input: ConfirmResetInput,
    @Client() { address }: ClientInfo,
  ): Promise<{ message: string }> {
    await this.resets.confirm(input, address);
    return { message: 'The password was changed' };
  }
}
