import { Injectable } from '@nestjs/common';
import { AccountMails, MailLimits } from '../account-mails/index.js';
import { type Account, AccountsService, type RegisterInput } from '../accounts/index.js';

@Injectable()
export class Registrations {
  constructor(
    private readonly accounts: AccountsService,
    private readonly mails: AccountMails,
    private readonly limits: MailLimits,
  ) {}

  /**
   * Creates an account, and asks the owner of its e-mail address to confirm it.
   *
   * @param address of the client
   * @throws AppError as the accounts do
   */
  register(input: RegisterInput, address: string): Promise<Account> {
    return this.accounts.register(input, {
      address,
      onCreated: async (account) => {
        await this.mails.verifyEmail(account);
        await this.limits.take('verify-email', account.email);
      },
    });
  }
}
