import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Patch,
  Post,
  Query,
  Res,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiOperation } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import {
  ChecksRecentLogin,
  CurrentPrincipal,
  type Principal,
  RecentInput,
  StaffOnly,
  SuperusersOnly,
} from '../platform/access/index.js';
import { Client, type ClientInfo } from '../platform/http/client.js';
import { Returns, ReturnsPage, Throws } from '../platform/http/openapi/returns.js';
import { paged, type Paged } from '../platform/http/responses/paged.js';
import { Id } from '../platform/http/validation/id.js';
import { OptionalBody } from '../platform/http/validation/input.pipe.js';
import { OWN_ACCOUNT, SUPERUSER_IS_STAFF } from './account-admin.js';
import { ManageAccountInput } from './account.input.js';
import { AccountSearch, ListAccountsQuery, NO_SUCH_ACCOUNT } from './account-search.js';
import { AccountDetailsView, AccountView, toAccountDetailsView, toAccountView } from './account.view.js';
import { LAST_SUPERUSER } from './accounts.service.js';
import { AuthRoutes } from './auth-routes.js';
import { ManagedAccounts } from './managed-accounts.js';

const NEEDS_RECENT = 'Needs a login that is at most 5 minutes old, or the password of the caller.';

/** Accounts for staff; what cannot be undone is for superusers. */
@Controller({ path: 'auth/accounts', version: VERSION_NEUTRAL })
@AuthRoutes()
@StaffOnly()
export class ManagedAccountsController {
  constructor(
    private readonly search: AccountSearch,
    private readonly managed: ManagedAccounts,
  ) {}

  @Get()
  @ApiOperation({ summary: 'Lists accounts, the newest first, for staff' })
  @ReturnsPage(AccountView)
  async list(
    @Query() query: ListAccountsQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Paged<AccountView>> {
    return paged(reply, (await this.search.list(query)).map(toAccountView));
  }

  @Get(':id')
  @ApiOperation({ summary: 'Reads an account, for staff' })
  @Returns(AccountDetailsView)
  @Throws({ NOT_FOUND: NO_SUCH_ACCOUNT })
  async read(@Id() id: number): Promise<AccountDetailsView> {
    const account = await this.search.get(id);
    return toAccountDetailsView(account, await this.search.countsOf(account));
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Sets whether an account may log in, and whether it is staff; for superusers',
    description: `The logins of the account end. ${NEEDS_RECENT}`,
  })
  @SuperusersOnly()
  @Returns(AccountView)
  @Throws({
    NOT_FOUND: NO_SUCH_ACCOUNT,
    CONFLICT: [OWN_ACCOUNT, LAST_SUPERUSER, SUPERUSER_IS_STAFF],
  })
  @ChecksRecentLogin(ManageAccountInput)
  async update(
    @CurrentPrincipal() caller: Principal,
    @Id() id: number,
    @Body() input: ManageAccountInput,
    @Client() client: ClientInfo,
  ): Promise<AccountView> {
    return toAccountView(await this.managed.update(caller, id, input, client));
  }

  @Delete(':id/sessions')
  @ApiOperation({ summary: 'Ends every login of an account; of a superuser, for superusers' })
  @Throws({ NOT_FOUND: NO_SUCH_ACCOUNT })
  @HttpCode(HttpStatus.NO_CONTENT)
  async endSessions(@CurrentPrincipal() caller: Principal, @Id() id: number): Promise<void> {
    await this.managed.endSessions(caller, id);
  }

  @Post(':id/reset-mfa')
  @ApiOperation({
    summary: 'Takes the second factor and the passkeys of an account away; for superusers',
    description: `The logins of the account end. ${NEEDS_RECENT}`,
  })
  @SuperusersOnly()
  @Throws({ NOT_FOUND: NO_SUCH_ACCOUNT, CONFLICT: OWN_ACCOUNT })
  @ChecksRecentLogin()
  @HttpCode(HttpStatus.NO_CONTENT)
  async resetFactors(
    @CurrentPrincipal() caller: Principal,
    @Id() id: number,
    @OptionalBody(RecentInput) input: RecentInput,
    @Client() client: ClientInfo,
  ): Promise<void> {
    await this.managed.resetFactors(caller, id, input, client);
  }
}
