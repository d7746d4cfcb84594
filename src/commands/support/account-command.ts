import { type Account, RegisterInput } from '../../auth/accounts/index.js';
import { AuditEntry, auditExpiry } from '../../audit/audit-entry.entity.js';
import { EXPIRING_TABLES } from '../../auth/expiring-tables.js';
import { RECORDS_TABLE } from '../../idempotency/idempotency.module.js';
import { Purger } from '../../common/retention/purger.js';
import { checkInput } from '../../common/validation/input.pipe.js';
import { loadAuditRetention } from '../../config/load-config.js';
import type { CommandDatabase } from '../../database/command-database.js';
import { ACCOUNT_ENTITIES, type AccountServices, accountServices } from './account-services.js';
import { auditCommand } from './audit-command.js';
import { askFor, askForPassword, confirm } from './ask.js';
import { rejectUsage } from './command-line.js';
import { runDatabaseCommand } from './run-command.js';
import { countOf } from './progress.js';

/** The given flags. */
type Flags = Partial<Record<'email' | 'name' | 'phone' | 'search', string>> & {
  readonly page: number;
  readonly limit: number;
  readonly remove?: boolean;
  readonly yes?: boolean;
};

/** `npm run account`: administration of accounts. */
class AccountCommand {
  readonly services: AccountServices;

  constructor(
    private readonly database: CommandDatabase,
    private readonly flags: Flags,
  ) {
    this.services = accountServices(database);
  }

  async createSuperuser(): Promise<void> {
    const { email, name, phone } = this.flags;
    const input = await checkInput(RegisterInput, {
      email: email ?? (await askFor('E-mail', '--email')),
      name: name ?? (await askFor('Name', '--name')),
      phone: phone ?? '',
      password: await askForPassword(),
    });
    printAccount('is a superuser', await this.services.accounts.register(input, { superuser: true }));
  }

  async list(): Promise<void> {
    const { page, limit, search = '' } = this.flags;
    const [accounts, total] = await this.services.admin.list({ search, page, limit });
    for (const account of accounts) {
      const { id, email, name, isActive, isStaff, isSuperuser } = account;
      const flags = [!isActive && 'inactive', isStaff && 'staff', isSuperuser && 'superuser'].filter(Boolean);
      console.log([id, email, JSON.stringify(name), ...flags].join('  '));
    }
    console.error(`Page ${page} of ${Math.max(1, Math.ceil(total / limit))}, ${countOf(total, 'account')}`);
  }

  async setStaff(email: string): Promise<void> {
    const account = await this.services.admin.setStaff(email, !this.flags.remove);
    printAccount(account.isStaff ? 'is staff' : 'is not staff any more', account);
  }

  async resetPassword(email: string): Promise<void> {
    const { admin } = this.services;
    await admin.find(email);
    const account = await admin.resetPassword(email, await askForPassword());
    printAccount('has a new password, and no logins', account);
  }

  async delete(email: string): Promise<void> {
    const { admin } = this.services;
    const account = await admin.find(email);
    const question = `Delete ${account.email} (${account.id}) and all personal data permanently?`;
    await confirm(question, this.flags.yes ?? false);
    printAccount('is deleted', await admin.delete(email));
  }

  async show(email: string): Promise<void> {
    const account = await this.services.admin.find(email);
    const { passwordHash: _, emailKey: __, ...shown } = account;
    for (const [name, value] of Object.entries(shown)) console.log(`${name}: ${JSON.stringify(value)}`);
    const logins = await this.services.logins.list(account.id);
    const identities = await this.services.identities.list(account.id);
    console.log(`logins: ${logins.length}`);
    console.log(`identities: ${identities.map(({ provider }) => provider).join(', ') || 'none'}`);
  }

  async purge(): Promise<void> {
    const purger = new Purger(this.database.transactions, this.services.clock);
    for (const table of [...EXPIRING_TABLES, RECORDS_TABLE]) purger.register(table);
    purger.register('audit_entries', auditExpiry(loadAuditRetention(process.env)));
    for (const [table, count] of await purger.purge()) console.log(`${table}: ${count} purged`);
  }
}

const printAccount = (change: string, { id, email }: Account): void =>
  console.log(`${email} (${id}) ${change}`);

interface Command {
  /** The number of words after the name: the e-mail of an account, and one more parameter if it takes one. */
  readonly words: number;
  /** `purge` writes without an entry in the audit log: it deletes only expired rows, as the service does. */
  readonly access?: 'read' | 'unaudited write';
  run(command: AccountCommand, email: string, parameter: string): Promise<void>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  'create-superuser': { words: 0, run: (command) => command.createSuperuser() },
  list: { words: 0, access: 'read', run: (command) => command.list() },
  purge: { words: 0, access: 'unaudited write', run: (command) => command.purge() },
  activate: {
    words: 1,
    run: async ({ services: { admin } }, email) =>
      printAccount('is active', await admin.setActive(email, true)),
  },
  deactivate: {
    words: 1,
    run: async ({ services: { admin } }, email) =>
      printAccount('is not active any more', await admin.setActive(email, false)),
  },
  staff: { words: 1, run: (command, email) => command.setStaff(email) },
  show: { words: 1, access: 'read', run: (command, email) => command.show(email) },
  'reset-password': { words: 1, run: (command, email) => command.resetPassword(email) },
  'verify-email': {
    words: 1,
    run: async ({ services: { admin } }, email) =>
      printAccount('is verified', await admin.verifyEmail(email)),
  },
  delete: { words: 1, run: (command, email) => command.delete(email) },
  'change-email': {
    words: 2,
    run: async ({ services: { admin } }, email, newEmail) =>
      printAccount(`was ${email}`, await admin.changeEmail(email, newEmail)),
  },
};

/** @param words of the command line, without flags */
export function runAccountCommand(words: string[], flags: Flags, usage: string): Promise<void> {
  const [name, email = '', parameter = ''] = words;
  if (name === undefined) return rejectUsage(usage);
  if (!Object.hasOwn(COMMANDS, name)) return rejectUsage(`There is no command ${name}\n\n${usage}`);
  const command = COMMANDS[name]!;
  const { access } = command;
  if (words.length !== command.words + 1) return rejectUsage(usage);

  return runDatabaseCommand(
    async (database) => {
      const work = () => command.run(new AccountCommand(database, flags), email, parameter);
      await (access === undefined ? auditCommand(database, `account ${name}`, work) : work());
      return 0;
    },
    {
      entities: [...ACCOUNT_ENTITIES, AuditEntry],
      access: access === 'read' ? 'read' : 'write',
      yes: flags.yes,
    },
  );
}
