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
  Post,
  Put,
  Res,
  StreamableFile,
  VERSION_NEUTRAL,
} from '@nestjs/common';
import { ApiBody, ApiOperation, ApiTags, getSchemaPath } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { SmallBodies } from '../../platform/http/json-body.js';
import { NoStore } from '../../platform/http/route-config.js';
import { Client, type ClientInfo } from '../../platform/http/client.js';
import { Returns, ReturnsMessage, ReturnsSchema, Throws } from '../../platform/http/openapi/returns.js';
import { OptionalBody } from '../../platform/http/validation/input.pipe.js';
import { Idempotent } from '../../platform/idempotency/idempotent.js';
import { CurrentAccount, CurrentPrincipal, type Principal, Public } from '../../platform/access/index.js';
import {
  Account,
  AccountsService,
  AccountView,
  ChangePasswordInput,
  REGISTRATION_CLOSED,
  RegisterInput,
  toAccountView,
  TOO_MANY_CODES,
  TOO_MANY_FAILURES,
  UpdateAccountInput,
} from '../accounts/index.js';
import { ChecksPassword, NOT_RECENT_TO_READ } from '../logins/index.js';
import { WRONG_CODE } from '../second-factors/index.js';
import { AccountExports } from './account-exports.js';
import { AccountDeletions, LOGIN_TOO_OLD } from './account-deletions.js';
import { PasswordChanges } from './password-changes.js';
import { DeleteAccountInput } from './profile.input.js';
import { Registrations } from './registrations.js';

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
    private readonly exports: AccountExports,
  ) {}

  @Post('register')
  @ApiOperation({ summary: 'Creates an account' })
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

  @Get('me')
  @ApiOperation({ summary: 'Reads the calling account' })
  @Returns(AccountView)
  me(@CurrentAccount() account: Account): AccountView {
    return toAccountView(account);
  }

  @Get('me/export')
  @ApiOperation({
    summary: 'Exports everything that is stored about the calling account',
    description: 'Needs a login that is at most 5 minutes old.',
  })
  @ReturnsSchema('AccountExport', ACCOUNT_EXPORT)
  @Throws({ FORBIDDEN: NOT_RECENT_TO_READ })
  @Header('content-disposition', 'attachment; filename="account.json"')
  export(@CurrentPrincipal() caller: Principal): StreamableFile {
    return new StreamableFile(Readable.from(this.exports.export(caller)), {
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
  @Throws({
    FORBIDDEN: LOGIN_TOO_OLD,
    INVALID_CODE: WRONG_CODE,
    RATE_LIMITED: [TOO_MANY_FAILURES, TOO_MANY_CODES],
  })
  @HttpCode(HttpStatus.NO_CONTENT)
  async delete(
    @CurrentPrincipal() caller: Principal,
    @OptionalBody(DeleteAccountInput) input: DeleteAccountInput,
    @Client() client: ClientInfo,
  ): Promise<void> {
    await this.deletions.delete(caller, input, client);
  }

  @Post('change-password')
  @ApiOperation({ summary: 'Changes the password, and ends all other logins' })
  @ReturnsMessage('The password was changed')
  @ChecksPassword()
  @Throws({ RATE_LIMITED: TOO_MANY_FAILURES })
  @HttpCode(HttpStatus.OK)
  async changePassword(
    @CurrentPrincipal() caller: Principal,
    @Body() input: ChangePasswordInput,
    @Client() client: ClientInfo,
  ): Promise<{ message: string }> {
    await this.passwords.change(caller, input, client);
    return { message: 'The password was changed' };
  }
}
