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
import { Public } from '../access.js';
import { CurrentAccount, CurrentPrincipal } from '../current-account.js';
import type { Principal } from '../principal.js';
import { Account } from './account.entity.js';
import { ChangePasswordInput, RegisterInput, UpdateAccountInput } from './account.input.js';
import { AccountView, toAccountView } from './account.view.js';
import { AccountsService } from './accounts.service.js';
import { INCORRECT_PASSWORD, IncorrectPasswordFilter } from './incorrect-password.js';

@ApiTags('Accounts')
@Controller({ path: 'auth', version: VERSION_NEUTRAL })
export class AccountsController {
  constructor(private readonly accounts: AccountsService) {}

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
    await this.accounts.changePassword(caller, input);
    return { message: 'The password was changed' };
  }
}
