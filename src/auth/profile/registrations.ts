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
   * Creates an account, and sends a confirmation link to its address.
   *
   * @param address of the client
   * @throws AppError as {@link AccountsService.create}
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
