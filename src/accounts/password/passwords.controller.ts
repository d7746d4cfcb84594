import { Body, Controller, HttpCode, HttpStatus, Post, Res, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import { AuthRoutes } from '../auth-routes.js';
import type { FastifyReply } from 'fastify';
import {
  ChecksPassword,
  CurrentPrincipal,
  type Principal,
  Public,
  TOO_MANY_FAILURES,
} from '../../platform/access/index.js';
import { Client, type ClientInfo } from '../../platform/http/client.js';
import { Returns, ReturnsMessage, Throws } from '../../platform/http/openapi/returns.js';
import { Idempotent } from '../../platform/idempotency/idempotent.js';
import { AccountView, toAccountView } from '../account.view.js';
import { REGISTRATION_CLOSED } from '../accounts.service.js';
import { PasswordChanges } from './password-changes.js';
import { PasswordResets } from './password-resets.js';
import {
  ChangePasswordInput,
  ConfirmResetInput,
  RegisterInput,
  ResetPasswordInput,
} from './password.input.js';
import { Registrations } from './registrations.js';

/** Accounts with a password: their registration, and changes of the password. */
@Controller({ path: 'auth', version: VERSION_NEUTRAL })
@AuthRoutes()
export class PasswordsController {
  constructor(
    private readonly registrations: Registrations,
    private readonly changes: PasswordChanges,
    private readonly resets: PasswordResets,
  ) {}

  @Post('register')
  @ApiOperation({ operationId: 'Accounts_register', summary: 'Creates an account' })
  @Returns(AccountView)
  @Throws({ CONFLICT: 'An account with this e-mail already exists', FORBIDDEN: REGISTRATION_CLOSED })
  @Public()
  @Idempotent()
  async register(
    @Body() input: RegisterInput,
    @Client() { address }: ClientInfo,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AccountView> {
    const account = await this.registrations.register(input, address);
    // The path of the caller's own account.
    reply.header('location', '/auth/me/');
    return toAccountView(account);
  }

  @Post('change-password')
  @ApiOperation({
    operationId: 'Accounts_changePassword',
    summary: 'Changes the password, and ends all other logins',
  })
  @ReturnsMessage('The password was changed')
  @ChecksPassword()
  @Throws({ RATE_LIMITED: TOO_MANY_FAILURES })
  @HttpCode(HttpStatus.OK)
  async changePassword(
    @CurrentPrincipal() caller: Principal,
    @Body() input: ChangePasswordInput,
    @Client() client: ClientInfo,
  ): Promise<{ message: string }> {
    await this.changes.change(caller, input, client);
    return { message: 'The password was changed' };
  }

  @Post('password/reset')
  @ApiOperation({
    operationId: 'PasswordReset_request',
    summary: 'Sends a password reset mail',
    description: 'The response is the same for every address, whether there is an account with it or not.',
  })
  @ReturnsMessage('If there is an account with this address, a mail is on its way to it')
  @Public()
  @HttpCode(HttpStatus.ACCEPTED)
  async requestReset(
    @Body() { email }: ResetPasswordInput,
    @Client() client: ClientInfo,
  ): Promise<{ message: string }> {
    await this.resets.request(email, client);
    return { message: 'If there is an account with this address, a mail is on its way to it' };
  }

  @Post('password/reset/confirm')
  @ApiOperation({
    operationId: 'PasswordReset_confirm',
    summary: 'Sets a new password with the token from a mail, and ends all logins of the account',
  })
  @ReturnsMessage('The password was changed')
  @Throws('INVALID_CODE')
  @Public()
  @HttpCode(HttpStatus.OK)
  async confirmReset(
    @Body() input: ConfirmResetInput,
    @Client() { address }: ClientInfo,
  ): Promise<{ message: string }> {
    await this.resets.confirm(input, address);
    return { message: 'The password was changed' };
  }
}
