import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Patch,
  Post,
  Put,
  Res,
  UseFilters,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { SmallBodies } from '../../common/http/json-body.js';
import { NoStore } from '../../common/http/route-config.js';
import { Client, type ClientInfo } from '../../common/http/client.js';
import { ThrowsOther, Returns, ReturnsMessage, Throws } from '../../common/openapi/returns.js';
import { checkInput } from '../../common/validation/input.pipe.js';
import { OptionalBody } from '../../common/http/request-of.js';
import { Idempotent } from '../../idempotency/idempotent.js';
import { CurrentAccount, CurrentPrincipal, type Principal, Public } from '../access/index.js';
import {
  Account,
  AccountsService,
  AccountView,
  ChangePasswordInput,
  INCORRECT_PASSWORD,
  IncorrectPasswordFilter,
  RegisterInput,
  toAccountView,
  TOO_MANY_FAILURES,
  UpdateAccountInput,
} from '../accounts/index.js';
import { AccountDeletions, LOGIN_TOO_OLD } from './account-deletions.js';
import { PasswordChanges } from './password-changes.js';
import { DeleteAccountInput } from './profile.input.js';
import { Registrations } from './registrations.js';

@ApiTags('Accounts')
@Controller({ path: 'auth', version: VERSION_NEUTRAL })
@SmallBodies()
@NoStore()
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly registrations: Registrations,
    private readonly passwords: PasswordChanges,
    private readonly deletions: AccountDeletions,
  ) {}

  @Post('register')
  @ApiOperation({ summary: 'Creates an account' })
  @Returns(AccountView)
  @Throws({ CONFLICT: 'An account with this e-mail already exists' })
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

  @Get('me')
  @ApiOperation({ summary: 'Reads the calling account' })
  @Returns(AccountView)
  me(@CurrentAccount() account: Account): AccountView {
    return toAccountView(account);
  }

  @Put('me')
  @ApiOperation({ summary: 'Changes the calling account, as PATCH does' })
  @Returns(AccountView)
  async replace(@CurrentAccount() { id }: Account, @Body() input: UpdateAccountInput): Promise<AccountView> {
    return toAccountView(await this.accounts.update(id, input));
  }

  @Patch('me')
  @ApiOperation({ summary: 'Changes the calling account' })
  @Returns(AccountView)
  async update(@CurrentAccount() { id }: Account, @Body() input: UpdateAccountInput): Promise<AccountView> {
    return toAccountView(await this.accounts.update(id, input));
  }

  @Delete('me')
  @ApiOperation({
    summary: 'Deletes the calling account permanently',
    description:
      'With the password; an account without one sends no body, and needs a login at most 5 minutes old. Its orders stay, without an owner.',
  })
  @ApiBody({ type: DeleteAccountInput })
  @ThrowsOther(400, INCORRECT_PASSWORD)
  @Throws({ FORBIDDEN: LOGIN_TOO_OLD, RATE_LIMITED: TOO_MANY_FAILURES })
  @HttpCode(HttpStatus.NO_CONTENT)
  @UseFilters(IncorrectPasswordFilter)
  async delete(
    @CurrentPrincipal() caller: Principal,
    @OptionalBody() input: DeleteAccountInput,
    @Client() client: ClientInfo,
  ): Promise<void> {
    await this.deletions.delete(caller, await checkInput(DeleteAccountInput, input), client);
  }

  @Post('change-password')
  @ApiOperation({ summary: 'Changes the password, and ends all other logins' })
  @ReturnsMessage('The password was changed')
  @ThrowsOther(400, INCORRECT_PASSWORD)
  @Throws({ RATE_LIMITED: TOO_MANY_FAILURES })
  @HttpCode(HttpStatus.OK)
  @UseFilters(IncorrectPasswordFilter)
  async changePassword(
    @CurrentPrincipal() caller: Principal,
    @Body() input: ChangePasswordInput,
    @Client() client: ClientInfo,
  ): Promise<{ message: string }> {
    await this.passwords.change(caller, input, client);
    return { message: 'The password was changed' };
  }
}
