import { Body, Controller, HttpCode, HttpStatus, Post, VERSION_NEUTRAL } from '@nestjs/common';
import { ApiBody, ApiOperation } from '@nestjs/swagger';
import { AuthRoutes } from './auth-routes.js';
import { ERRORS } from '../platform/http/errors/errors.js';
import { Client, type ClientInfo } from '../platform/http/client.js';
import { Returns, ReturnsMessage, Throws } from '../platform/http/openapi/returns.js';
import { OptionalBody } from '../platform/http/validation/input.pipe.js';
import {
  ChecksPassword,
  CODE_ERRORS,
  CurrentAccount,
  CurrentPrincipal,
  type Principal,
  OptionalAccess,
  TOO_MANY_FAILURES,
} from '../platform/access/index.js';
import { type Account } from './account.entity.js';
import { AccountView, toAccountView } from './account.view.js';
import { LoginInput, ChangeEmailInput, TokenInput, VerifyEmailInput } from './account.input.js';
import { EMAIL_TAKEN, EmailChanges } from './email-changes.js';
import { ALREADY_VERIFIED, EmailVerification, MAIL_LIMIT, MAY_BE_ANOTHERS } from './email-verification.js';

/** The e-mail address of an account: verification and change. */
@Controller({ path: 'auth/email', version: VERSION_NEUTRAL })
@AuthRoutes()
export class EmailController {
  constructor(
    private readonly verification: EmailVerification,
    private readonly changes: EmailChanges,
  ) {}

  @Post('verify')
  @ApiOperation({
    summary: 'Verifies an e-mail address with the token from a mail',
    description:
      'Ends every login of the account, unless the call is authenticated as the account or has its password: one of them is required if the account already has a passkey, a second factor, an API key or an identity.',
  })
  @ReturnsMessage('The e-mail address is verified')
  @ChecksPassword()
  @Throws('INVALID_CODE', { FORBIDDEN: MAY_BE_ANOTHERS, RATE_LIMITED: TOO_MANY_FAILURES })
  @OptionalAccess({ always: true })
  @HttpCode(HttpStatus.OK)
  async verify(
    @CurrentAccount() account: Account | null,
    @Body() input: VerifyEmailInput,
    @Client() client: ClientInfo,
  ): Promise<{ message: string }> {
    await this.verification.verify(account, input, client);
    return { message: 'The e-mail address is verified' };
  }

  @Post('resend')
  @ApiOperation({
    summary: 'Sends the verification mail again',
    description:
      'To a caller who is logged in, without a body, or to one who sends the e-mail and the password.',
  })
  @ApiBody({ type: LoginInput, required: false })
  @ReturnsMessage('A mail is on its way')
  @Throws({
    UNAUTHENTICATED: ERRORS.UNAUTHENTICATED.message,
    CONFLICT: ALREADY_VERIFIED,
    RATE_LIMITED: [MAIL_LIMIT, TOO_MANY_FAILURES],
  })
  @OptionalAccess({ always: true })
  @HttpCode(HttpStatus.ACCEPTED)
  async resend(
    @CurrentAccount() account: Account | null,
    @OptionalBody() input: LoginInput,
    @Client() client: ClientInfo,
  ): Promise<{ message: string }> {
    await this.verification.resend(account, input, client);
    return { message: 'A mail is on its way' };
  }

  @Post('change')
  @ApiOperation({
    summary: 'Requests another e-mail address for the calling account',
    description:
      'It changes when the new address is confirmed. The response is the same for an address that is taken.',
  })
  @ReturnsMessage('A mail is on its way to the new address')
  @ChecksPassword()
  @Throws(CODE_ERRORS)
  @HttpCode(HttpStatus.ACCEPTED)
  async change(
    @CurrentPrincipal() caller: Principal,
    @Body() input: ChangeEmailInput,
    @Client() client: ClientInfo,
  ): Promise<{ message: string }> {
    await this.changes.request(caller, input, client);
    return { message: 'A mail is on its way to the new address' };
  }

  @Post('change/confirm')
  @ApiOperation({
    summary: 'Confirms a change of e-mail address with the token from a mail',
    description:
      'Authenticated as the account, it confirms its owner: a later reset of the password keeps what is added afterwards.',
  })
  @Returns(AccountView)
  @Throws({ INVALID_CODE: ERRORS.INVALID_CODE.message, CONFLICT: EMAIL_TAKEN })
  @OptionalAccess({ always: true })
  @HttpCode(HttpStatus.OK)
  async confirmChange(
    @CurrentAccount() account: Account | null,
    @Body() { token }: TokenInput,
  ): Promise<AccountView> {
    return toAccountView(await this.changes.confirm(account, token));
  }
}
