import { eraseSource } from '../../audit/audit-entry.entity.js';
import { AccountToken, AccountTokens, mailErasures } from '../../auth/account-mails/index.js';
import { Account, AccountsService, PasswordPolicy, Passwords } from '../../auth/accounts/index.js';
import { eraseLogins, Login, Logins } from '../../auth/logins/index.js';
import { AccountAdmin, AccountRemoval } from '../../auth/profile/index.js';
import {
  LoginCode,
  LoginCodes,
  SOCIAL_ERASURES,
  SocialIdentities,
  SocialIdentity,
} from '../../auth/social/index.js';
import { Clock } from '../../common/ports/clock.js';
import { AccountData } from '../../common/retention/account-data.js';
import { loadPasswordPolicy } from '../../config/load-config.js';
import type { CommandDatabase } from '../../database/command-database.js';
import { eraseResponses } from '../../idempotency/idempotency.module.js';
import { MailQueue, OutboxMail } from '../../mail/index.js';

export const ACCOUNT_ENTITIES = [Account, AccountToken, Login, LoginCode, OutboxMail, SocialIdentity];

export interface AccountServices {
  readonly clock: Clock;
  readonly accounts: AccountsService;
  readonly admin: AccountAdmin;
  readonly logins: Logins;
  readonly identities: SocialIdentities;
}

/** The services of accounts, for a command without an application. */
export function accountServices({ source, queries, transactions }: CommandDatabase): AccountServices {
  const clock = new Clock();
  const passwords = new Passwords();
  const policy = new PasswordPolicy(loadPasswordPolicy(process.env));
  const repository = source.getRepository(Account);
  const accounts = new AccountsService(repository, queries, transactions, passwords, policy, clock);
  const logins = new Logins(source.getRepository(Login), queries, transactions, clock);
  const codes = new LoginCodes(source.getRepository(LoginCode), transactions, clock);
  const tokens = new AccountTokens(source.getRepository(AccountToken), accounts, transactions, clock);
  const mails = new MailQueue(source.getRepository(OutboxMail), queries, transactions, clock);
  const identities = new SocialIdentities(
    source.getRepository(SocialIdentity),
    transactions,
    accounts,
    clock,
  );
  const accountData = new AccountData();
  accountData.register(eraseLogins, ...SOCIAL_ERASURES, ...mailErasures(mails), eraseResponses, eraseSource);
  const removal = new AccountRemoval(transactions, accounts, accountData);
  const admin = new AccountAdmin(
    repository,
    transactions,
    accounts,
    passwords,
    policy,
    logins,
    codes,
    tokens,
    removal,
  );
  return { clock, accounts, admin, logins, identities };
}
