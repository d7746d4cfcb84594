import { Injectable } from '@nestjs/common';
import { Transactions } from '../../database/transactions.js';
import { MailQueue } from '../../mail/index.js';
import { mailOwnersOf } from '../account-mails/index.js';
import { type Account, accountDeleted, AccountsService, IncorrectPassword } from '../accounts/index.js';

/** Every table with rows that are deleted with their account (`account_id`). A test compares it with the schema. */
const TABLES = ['logins', 'login_codes', 'social_identities', 'account_tokens'];

/** Stored responses to requests with an `Idempotency-Key`: that of the registration contains the account. */
const REMOVE_RESPONSES = `DELETE FROM idempotency_records
  WHERE id IN (SELECT record_id FROM idempotency_accounts WHERE account_id = :id)`;

/** Deletes accounts and all personal data. */
@Injectable()
export class AccountRemoval {
  constructor(
    private readonly transactions: Transactions,
    private readonly accounts: AccountsService,
    private readonly mails: MailQueue,
  ) {}

  /**
   * @param seen the account that was authenticated
   * @throws IncorrectPassword when its password has changed since
   * @throws AppError `UNAUTHENTICATED` when it was deleted concurrently
   */
  async remove(seen: Account): Promise<void> {
    await this.transactions.run(async (manager) => {
      // A concurrent login waits for this lock, and then finds no account.
      const account = await this.accounts.lock(seen.id);
      if (!account) throw accountDeleted();
      if (account.passwordChangedAt.getTime() !== seen.passwordChangedAt.getTime()) {
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
      await this.transactions.execute(REMOVE_RESPONSES, { id: account.id });
      // Entries of the audit log stay, with the id of the deleted account and without address and client.
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
