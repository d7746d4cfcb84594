import { parseArgs } from 'node:util';
import type { Repository } from 'typeorm';
import {
  Account,
  AccountsService,
  PasswordPolicy,
  Passwords,
  RegisterInput,
} from '../auth/accounts/index.js';
import { EXPIRING_TABLES } from '../auth/expiring-tables.js';
import { Login, Logins } from '../auth/logins/index.js';
import { AccountAdmin } from '../auth/profile/index.js';
import { Clock } from '../common/clock/clock.js';
import { RECORDS_TABLE } from '../idempotency/idempotency.module.js';
import { Purger } from '../common/purge/purger.js';
import { checkInput } from '../common/validation/input.pipe.js';
import { loadPasswordPolicy } from '../config/load-config.js';
import type { CommandDatabase } from '../database/command-database.js';
import { askFor, askForPassword } from './support/ask.js';
import { runDatabaseCommand, UsageError } from './support/run-command.js';

const USAGE = `Usage: npm run account -- <command>
  create-superuser [--email E --name N --phone P]   the password is asked for, or read from standard input
  activate <e-mail>            lets an account log in again
  deactivate <e-mail>          ends all that an account can do, at once
  staff <e-mail> [--remove]    makes an account staff, or takes that away
  list                         all accounts
  purge                        deletes what has expired, as the service does every few minutes`;

/** `npm run account`: what is done to accounts by who runs the service. */
class AccountCommand {
  private readonly clock = new Clock();
  private readonly accounts: Repository<Account>;
  private readonly logins: Logins;
  private readonly admin: AccountAdmin;

  constructor(private readonly database: CommandDatabase) {
    const { source, queries, transactions } = database;
    this.accounts = source.getRepository(Account);
    this.logins = new Logins(source.getRepository(Login), queries, transactions, this.clock);
    this.admin = new AccountAdmin(this.accounts, transactions, this.logins);
  }

  async run(name: string, email: string | undefined, flags: Flags): Promise<void> {
    if (name === 'create-superuser' && email === undefined) return this.createSuperuser(flags);
    if (name === 'list' && email === undefined) return this.list();
    if (name === 'purge' && email === undefined) return this.purge();
    if (email === undefined) throw new UsageError(USAGE);
    if (name === 'activate') return say('is active', await this.admin.setActive(email, true));
    if (name === 'deactivate') return say('is not active any more', await this.admin.setActive(email, false));
    if (name !== 'staff') throw new UsageError(USAGE);
    const account = await this.admin.setStaff(email, !flags.remove);
    return say(account.isStaff ? 'is staff' : 'is not staff any more', account);
  }

  private async createSuperuser({ email, name, phone }: Flags): Promise<void> {
    const input = await checkInput(RegisterInput, {
      email: email ?? (await askFor('E-mail', '--email')),
      name: name ?? (await askFor('Name', '--name')),
      phone: phone ?? '',
      password: await askForPassword(),
    });
    const policy = new PasswordPolicy(loadPasswordPolicy(process.env));
    const accounts = new AccountsService(
      this.accounts,
      this.database.queries,
      new Passwords(),
      policy,
      this.clock,
    );
    say('is a superuser', await accounts.register(input, { superuser: true }));
  }

  private async list(): Promise<void> {
    for (const account of await this.admin.list()) {
      const { id, email, name, isActive, isStaff, isSuperuser } = account;
      const flags = [!isActive && 'inactive', isStaff && 'staff', isSuperuser && 'superuser'].filter(Boolean);
      console.log([id, email, JSON.stringify(name), ...flags].join('  '));
    }
  }

  private async purge(): Promise<void> {
    const purger = new Purger(this.database.transactions, this.clock);
    for (const table of [...EXPIRING_TABLES, RECORDS_TABLE]) purger.register(table);
    for (const [table, count] of await purger.purge()) console.log(`${table}: ${count} purged`);
  }
}

interface Flags {
  readonly email?: string | undefined;
  readonly name?: string | undefined;
  readonly phone?: string | undefined;
  readonly remove?: boolean | undefined;
}

const say = (what: string, { id, email }: Account): void => console.log(`${email} (${id}) ${what}`);

await runDatabaseCommand(
  async (database) => {
    const text = { type: 'string' } as const;
    const { values, positionals } = parseArgs({
      options: { email: text, name: text, phone: text, remove: { type: 'boolean' } },
      allowPositionals: true,
    });
    const [name = '', email, ...more] = positionals;
    if (more.length > 0) throw new UsageError(USAGE);
    await new AccountCommand(database).run(name, email, values);
    return 0;
  },
  [Account, Login],
);
