import { Injectable } from '@nestjs/common';
import { Transactions } from '../../database/transactions.js';
import { MailQueue } from '../../mail/index.js';
import { mailOwnersOf } from '../account-mails/index.js';
import { type Account, AccountsService, IncorrectPassword } from '../accounts/index.js';

/** Every table whose rows belong to an account (`account_id`) and go with it. A test compares it with the schema. */
const TABLES = ['logins', 'login_codes', 'social_identities', 'account_tokens'];

/** Removes accounts, with all that is stored of the person. */
@Injectable()
export class AccountRemoval {
  constructor(
    private readonly transactions: Transactions,
    private readonly accounts: AccountsService,
    private readonly mails: MailQueue,
  ) {}

  /**
   * @param seen the account as whoever removes it has seen it
   * @throws IncorrectPassword when its password has changed since, or it is gone
   */
  async remove(seen: Account): Promise<void> {
    await this.transactions.run(async (manager) => {
      // Whoever logs in at this moment has to wait, and then finds no account.
      const account = await this.accounts.lock(seen.id);
      if (account?.passwordChangedAt.getTime() !== seen.passwordChangedAt.getTime()) {
        throw new IncorrectPassword();
      }
      for (const table of TABLES) {
        await manager
          .createQueryBuilder()
          .delete()
          .from(table)
          .where('account_id = :id', { id: account.id })
          .execute();
      }
      // Entries of the audit log stay, by the number of an account that is gone, without where they came from.
      await manager
        .createQueryBuilder()
        .update('audit_entries')
        .set({ address: '', agent: '' })
        .where('actor_id = :id', { id: account.id })
        .execute();
      await this.mails.discard(mailOwnersOf(account));
      await this.accounts.remove(account.id);
    });
  }
}
