import { Readable } from 'node:stream';
import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  HttpStatus,
  Patch,
  Put,
  StreamableFile,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiBody, ApiOperation, getSchemaPath } from '@nestjs/swagger';
import { AuthRoutes } from './auth-routes.js';
import {
  AccountData,
  ChecksPassword,
  CODE_ERRORS,
  CurrentAccount,
  CurrentPrincipal,
  type Principal,
  RECENT_TO_READ_ERRORS,
  RecentLogins,
  WithApiKeys,
} from '../platform/access/index.js';
import { Client, type ClientInfo } from '../platform/http/client.js';
import { Returns, ReturnsSchema, Throws } from '../platform/http/openapi/returns.js';
import { OptionalBody } from '../platform/http/validation/input.pipe.js';
import { Account } from './account.entity.js';
import { AccountsService, LAST_SUPERUSER } from './accounts.service.js';
import { AccountView, toAccountView } from './account.view.js';
import { UpdateAccountInput } from './account.input.js';
import { AccountDeletion, LOGIN_TOO_OLD } from './account-deletion.js';
import { DeleteAccountInput } from './account.input.js';

const LIST = { type: 'array', items: { type: 'object', additionalProperties: true } };

const ACCOUNT_EXPORT = {
  type: 'object',
  properties: {
    account: { $ref: getSchemaPath(AccountView) },
    logins: LIST,
    identities: LIST,
    passkeys: LIST,
    api_keys: LIST,
    orders: LIST,
    audit: LIST,
  },
  required: ['account'],
  // Modules add lists of what they store.
  additionalProperties: true,
};

/** The calling account. */
@Controller({ path: 'auth', version: VERSION_NEUTRAL })
@AuthRoutes()
export class AccountsController {
  constructor(
    private readonly accounts: AccountsService,
    private readonly deletion: AccountDeletion,
    private readonly data: AccountData,
    private readonly recent: RecentLogins,
  ) {}

  @Get('me')
  @ApiOperation({ summary: 'Reads the calling account' })
  @Returns(AccountView)
  @WithApiKeys()
  me(@CurrentAccount() account: Account): AccountView {
    return toAccountView(account);
  }

  @Get('me/export')
  @ApiOperation({
    summary: 'Exports everything that is stored about the calling account',
    description: 'Needs a login that is at most 5 minutes old.',
  })
  @ReturnsSchema('AccountExport', ACCOUNT_EXPORT)
  @Throws(RECENT_TO_READ_ERRORS)
  @Header('content-disposition', 'attachment; filename="account.json"')
  export(@CurrentPrincipal() caller: Principal): StreamableFile {
    this.recent.requireToRead(caller);
    const { account } = caller;
    return new StreamableFile(Readable.from(this.data.export(account, toAccountView(account))), {
      type: 'application/json; charset=utf-8',
    });
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
      'With the password; an account without one needs a login at most 5 minutes old. With a code as well, while two-step login is on. Its orders stay, without an owner.',
  })
  @ApiBody({ type: DeleteAccountInput })
  @ChecksPassword()
  @Throws(CODE_ERRORS, { FORBIDDEN: LOGIN_TOO_OLD, CONFLICT: LAST_SUPERUSER })
  @HttpCode(HttpStatus.NO_CONTENT)
  async delete(
    @CurrentPrincipal() caller: Principal,
    @OptionalBody(DeleteAccountInput) input: DeleteAccountInput,
    @Client() client: ClientInfo,
  ): Promise<void> {
    await this.deletion.delete(caller, input, client);
  }
}
