import { instanceToPlain } from 'class-transformer';
import type { INestApplicationContext, Type } from '@nestjs/common';
import { type Account } from '../../accounts/account.entity.js';
import { PasswordPolicy } from '../../accounts/password/password-policy.js';
import { RegisterInput } from '../../accounts/password/password.input.js';
import { SessionsService } from '../../accounts/sessions.service.js';
import { PasswordChanges } from '../../accounts/password/password-changes.js';
import { Registrations } from '../../accounts/password/registrations.js';
import { AccountAdmin } from '../../accounts/account-admin.js';
import { AccountSearch } from '../../accounts/account-search.js';
import { IdentitiesService } from '../../accounts/social/identities.service.js';
import { Purger } from '../../platform/jobs/purger.js';
import { checkInput } from '../../platform/http/validation/input.pipe.js';
import { askFor, askForPassword, confirm } from './ask.js';
import { rejectUsage } from './command-line.js';
import { recordAsOperator } from './operator.js';
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
  private readonly admin: AccountAdmin;

  constructor(
    private readonly context: INestApplicationContext,
    readonly flags: Flags,
  ) {
    this.admin = this.get(AccountAdmin);
  }

  async create({ superuser }: { superuser: boolean }): Promise<void> {
    const { email, name, phone } = this.flags;
    const input = await checkInput(RegisterInput, {
      email: email ?? (await askFor('E-mail', '--email')),
      name: name ?? (await askFor('Name', '--name')),
      phone: phone ?? '',
      password: await askForPassword(),
    });
    await this.get(PasswordPolicy).check('password', input.password, input);
    const account = await this.get(Registrations).create(input, { superuser });
    printAccount(superuser ? 'is a superuser' : 'can log in', account);
  }

  async list(): Promise<void> {
    const { page, limit, search = '' } = this.flags;
    const range = { limit, offset: (page - 1) * limit, direction: 'ASC' } as const;
    const { accounts, total } = await this.get(AccountSearch).search({ q: search }, range);
    for (const account of accounts) {
      const { id, email, name, isActive, isStaff, isSuperuser } = account;
      const flags = [!isActive && 'inactive', isStaff && 'staff', isSuperuser && 'superuser'].filter(Boolean);
      console.log([id, email, JSON.stringify(name), ...flags].join('  '));
    }
    console.error(`Page ${page} of ${Math.max(1, Math.ceil(total / limit))}, ${countOf(total, 'account')}`);
  }

  async setRights(
    email: string,
    rights: { isActive: boolean } | { isStaff: boolean },
    change: string,
  ): Promise<void> {
    printAccount(change, await this.admin.setRights(await this.admin.get(email), rights));
  }

  async resetPassword(email: string): Promise<void> {
    const account = await this.admin.get(email);
    await this.get(PasswordChanges).set(account, await askForPassword());
    printAccount('has a new password, and no logins', account);
  }

  async verifyEmail(email: string): Promise<void> {
    const account = await this.admin.get(email);
    await this.admin.verifyEmail(account);
    printAccount('is verified', account);
  }

  async changeEmail(email: string, newEmail: string): Promise<void> {
    printAccount(`was ${email}`, await this.admin.changeEmail(await this.admin.get(email), newEmail));
  }

  async delete(email: string): Promise<void> {
    const account = await this.admin.get(email);
    const question = `Delete ${account.email} (${account.id}) and all personal data permanently?`;
    await confirm(question, this.flags.yes ?? false);
    await this.admin.delete(account);
    printAccount('is deleted', account);
  }

  async resetFactors(named: string): Promise<void> {
    const { admin, flags } = this;
    const account = await admin.get(named || (flags.email ?? (await askFor('E-mail', '--email'))));
    const question = `Take the second factor and all passkeys of ${account.email} (${account.id}) away? A password alone can log in then.`;
    await confirm(question, flags.yes ?? false);
    await admin.resetFactors(account);
    printAccount('has no second factor, no passkeys, and no logins', account);
  }

  async show(email: string): Promise<void> {
    const account = await this.admin.get(email);
    for (const [name, value] of Object.entries(instanceToPlain(account)))
      console.log(`${name}: ${JSON.stringify(value)}`);
    const logins = await this.get(SessionsService).list(account.id);
    const identities = await this.get(IdentitiesService).list(account.id);
    console.log(`logins: ${logins.length}`);
    console.log(`identities: ${identities.map(({ provider }) => provider).join(', ') || 'none'}`);
  }

  async purge(): Promise<void> {
    for (const [table, count] of await this.get(Purger).purge()) console.log(`${table}: ${count} purged`);
  }

  private get<T>(provider: Type<T>): T {
    return this.context.get(provider, { strict: false });
  }
}

const printAccount = (change: string, { id, email }: Account): void =>
  console.log(`${email} (${id}) ${change}`);

interface Command {
  /** The number of words after the name: the e-mail of an account, and one more parameter if it takes one. */
  readonly words: number;
  /** Whether it also accepts --email, and asks without it. */
  readonly mayAsk?: boolean;
  /** Whether it only reads. */
  readonly isReading?: true;
  run(command: AccountCommand, email: string, parameter: string): Promise<void>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  create: { words: 0, run: (command) => command.create({ superuser: false }) },
  'create-superuser': { words: 0, run: (command) => command.create({ superuser: true }) },
  'reset-mfa': { words: 1, mayAsk: true, run: (command, email) => command.resetFactors(email) },
  list: { words: 0, isReading: true, run: (command) => command.list() },
  purge: { words: 0, run: (command) => command.purge() },
  activate: {
    words: 1,
    run: (command, email) => command.setRights(email, { isActive: true }, 'is active'),
  },
  deactivate: {
    words: 1,
    run: (command, email) => command.setRights(email, { isActive: false }, 'is not active any more'),
  },
  staff: {
    words: 1,
    run: (command, email) =>
      command.flags.remove
        ? command.setRights(email, { isStaff: false }, 'is not staff any more')
        : command.setRights(email, { isStaff: true }, 'is staff'),
  },
  show: { words: 1, isReading: true, run: (command, email) => command.show(email) },
  'reset-password': { words: 1, run: (command, email) => command.resetPassword(email) },
  'verify-email': { words: 1, run: (command, email) => command.verifyEmail(email) },
  delete: { words: 1, run: (command, email) => command.delete(email) },
  'change-email': {
    words: 2,
    run: (command, email, newEmail) => command.changeEmail(email, newEmail),
  },
};

/** By the number of words. */
const PARAMETERS = ['only flags', 'the e-mail of an account', 'the e-mail of an account and its new e-mail'];

/** @param words of the command line, without flags */
export function runAccountCommand(words: string[], flags: Flags, usage: string): Promise<void> {
  const [name, email = '', parameter = ''] = words;
  if (name === undefined) return rejectUsage(usage);
  if (!Object.hasOwn(COMMANDS, name)) return rejectUsage(`There is no command ${name}\n\n${usage}`);
  const command = COMMANDS[name]!;
  const given = words.length - 1;
  if (given !== command.words && !(command.mayAsk && given === 0)) {
    return rejectUsage(`${name} takes ${PARAMETERS[command.words]}\n\n${usage}`);
  }

  return runDatabaseCommand(
    async (context) => {
      recordAsOperator(context, `account ${name}`);
      await command.run(new AccountCommand(context, flags), email, parameter);
      return 0;
    },
    {
      access: command.isReading ? 'read' : 'write',
      yes: flags.yes,
    },
  );
}
