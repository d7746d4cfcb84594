import {
  Body,
  Controller,
  Get,
  Header,
  HttpCode,
  HttpStatus,
  Patch,
  Post,
  Put,
  Res,
  UseFilters,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiOperation, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { AlsoRefuses, Answers, AnswersMessage, Refuses } from '../../common/openapi/answers.js';
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
  UpdateAccountInput,
} from '../accounts/index.js';
import { PasswordChanges } from './password-changes.js';

@ApiTags('Accounts')
@Controller({ path: 'auth', version: VERSION_NEUTRAL })
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly passwords: PasswordChanges,
  ) {}

  @Post('register')
  @ApiOperation({ summary: 'Makes an account' })
  @Answers(AccountView)
  @Refuses({ CONFLICT: 'An account with this e-mail exists already' })
  @Public()
  @Idempotent()
  async register(
    @Body() input: RegisterInput,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AccountView> {
    const account = await this.accounts.register(input);
    // Where its owner finds it; nobody else does.
    reply.header('location', '/auth/me/');
    return toAccountView(account);
  }

  @Get('me')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Reads the calling account' })
  @Answers(AccountView)
  me(@CurrentAccount() account: Account): AccountView {
    return toAccountView(account);
  }

  @Put('me')
  @ApiOperation({ summary: 'Changes the calling account, as PATCH does' })
  @Answers(AccountView)
  async replace(@CurrentAccount() { id }: Account, @Body() input: UpdateAccountInput): Promise<AccountView> {
    return toAccountView(await this.accounts.update(id, input));
  }

  @Patch('me')
  @ApiOperation({ summary: 'Changes the calling account' })
  @Answers(AccountView)
  async update(@CurrentAccount() { id }: Account, @Body() input: UpdateAccountInput): Promise<AccountView> {
    return toAccountView(await this.accounts.update(id, input));
  }

  @Post('change-password')
  @ApiOperation({ summary: 'Changes the password, and ends all other logins' })
  @AnswersMessage('The password was changed')
  @AlsoRefuses(400, INCORRECT_PASSWORD)
  @HttpCode(HttpStatus.OK)
  @UseFilters(IncorrectPasswordFilter)
  async changePassword(
    @CurrentPrincipal() caller: Principal,
    @Body() input: ChangePasswordInput,
  ): Promise<{ message: string }> {
    await this.passwords.change(caller, input);
    return { message: 'The password was changed' };
  }
}
