import { type Account, RegisterInput } from '../../auth/accounts/index.js';
import { AuditEntry, auditExpiry } from '../../audit/audit-entry.entity.js';
import { EXPIRING_TABLES } from '../../auth/expiring-tables.js';
import { RECORDS_TABLE } from '../../idempotency/idempotency.module.js';
import { Purger } from '../../common/purge/purger.js';
import { checkInput } from '../../common/validation/input.pipe.js';
import { loadAuditRetention } from '../../config/load-config.js';
import type { CommandDatabase } from '../../database/command-database.js';
import { ACCOUNT_ENTITIES, type AccountServices, accountServices } from './account-services.js';
import { auditCommand } from './audit-command.js';
import { askFor, askForPassword } from './ask.js';
import { runDatabaseCommand, UsageError } from './run-command.js';

/** The given flags. */
type Flags = Partial<Record<'email' | 'name' | 'phone' | 'search' | 'page' | 'limit', string>> & {
  readonly remove?: boolean;
};

/** A command that gets the e-mail of an account, and one more parameter if it takes one. */
type Command = (email: string, parameter: string) => Promise<void>;

/** `npm run account`: administration of accounts. */
class AccountCommand {
  private readonly services: AccountServices;

  constructor(
    private readonly database: CommandDatabase,
    private readonly flags: Flags,
    private readonly usage: string,
  ) {
    this.services = accountServices(database);
  }

  /** The commands, by their number of parameters. */
  private get commands(): Readonly<Record<string, Command>>[] {
    const { admin } = this.services;
    return [
      {
        'create-superuser': () => this.createSuperuser(),
        list: () => this.list(),
        purge: () => this.purge(),
      },
      {
        activate: async (email) => printAccount('is active', await admin.setActive(email, true)),
        deactivate: async (email) =>
          printAccount('is not active any more', await admin.setActive(email, false)),
        staff: async (email) => {
          const account = await admin.setStaff(email, !this.flags.remove);
          printAccount(account.isStaff ? 'is staff' : 'is not staff any more', account);
        },
        show: (email) => this.show(email),
        'reset-password': async (email) => {
          await admin.find(email);
          printAccount(
            'has a new password, and no logins',
            await admin.resetPassword(email, await askForPassword()),
          );
        },
        'verify-email': async (email) => printAccount('is verified', await admin.verifyEmail(email)),
        delete: async (email) => printAccount('is deleted', await admin.delete(email)),
      },
      {
        'change-email': async (email, newEmail) =>
          printAccount(`was ${email}`, await admin.changeEmail(email, newEmail)),
      },
    ];
  }

  /** @throws UsageError for an unknown command, or wrong parameters */
  async run([name = '', email = '', parameter = '', ...more]: string[], count: number): Promise<void> {
    const commands = this.commands[count - 1] ?? {};
    if (more.length > 0 || !Object.hasOwn(commands, name)) throw new UsageError(this.usage);
    await commands[name]!(email, parameter);
  }

  private async createSuperuser(): Promise<void> {
    const { email, name, phone } = this.flags;
    const input = await checkInput(RegisterInput, {
      email: email ?? (await askFor('E-mail', '--email')),
      name: name ?? (await askFor('Name', '--name')),
      phone: phone ?? '',
      password: await askForPassword(),
    });
    printAccount('is a superuser', await this.services.accounts.register(input, { superuser: true }));
  }

  private async list(): Promise<void> {
    const page = positive('--page', this.flags.page ?? '1');
    const limit = positive('--limit', this.flags.limit ?? '100');
    const search = this.flags.search ?? '';
    const [accounts, total] = await this.services.admin.list({ search, page, limit });
    for (const account of accounts) {
      const { id, email, name, isActive, isStaff, isSuperuser } = account;
      const flags = [!isActive && 'inactive', isStaff && 'staff', isSuperuser && 'superuser'].filter(Boolean);
      console.log([id, email, JSON.stringify(name), ...flags].join('  '));
    }
    console.error(
      `Page ${page} of ${Math.max(1, Math.ceil(total / limit))}, ${total} ${total === 1 ? 'account' : 'accounts'}`,
    );
  }

  private async show(email: string): Promise<void> {
    const account = await this.services.admin.find(email);
    const { passwordHash: _, emailKey: __, ...shown } = account;
    for (const [name, value] of Object.entries(shown)) console.log(`${name}: ${JSON.stringify(value)}`);
    const logins = await this.services.logins.list(account.id);
    const identities = await this.services.identities.list(account.id);
    console.log(`logins: ${logins.length}`);
    console.log(`identities: ${identities.map(({ provider }) => provider).join(', ') || 'none'}`);
  }

  private async purge(): Promise<void> {
    const purger = new Purger(this.database.transactions, this.services.clock);
    for (const table of [...EXPIRING_TABLES, RECORDS_TABLE]) purger.register(table);
    purger.register('audit_entries', auditExpiry(loadAuditRetention(process.env)));
    for (const [table, count] of await purger.purge()) console.log(`${table}: ${count} purged`);
  }
}

function positive(flag: string, value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) throw new UsageError(`${flag} must be a whole number from 1`);
  return Number(value);
}

const printAccount = (change: string, { id, email }: Account): void =>
  console.log(`${email} (${id}) ${change}`);

/** Commands without an entry in the audit log: `purge` deletes only expired rows, as the service does. */
const UNAUDITED = new Set(['list', 'show', 'purge']);

/** @param words of the command line, without flags */
export function runAccountCommand(words: string[], flags: Flags, usage: string): Promise<void> {
  return runDatabaseCommand(
    async (database) => {
      const command = new AccountCommand(database, flags, usage);
      const run = () => command.run(words, words.length);
      const [name = ''] = words;
      await (UNAUDITED.has(name) ? run() : auditCommand(database, `account ${name}`, run));
      return 0;
    },
    [...ACCOUNT_ENTITIES, AuditEntry],
  );
}
